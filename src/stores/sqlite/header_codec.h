// A header as bytes. What a row has in columns of its own (id, state, family) is not repeated.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/record.h"
#include "stores/sqlite/names.h"

namespace holdfast::stores::sqlite {

std::string pack_header(const domain::Header& h, Names& names);

/// Fills in everything but id, kind, queue, type and state. False: the bytes are damaged.
bool unpack_header(std::string_view bytes, const Names& names, domain::Header& h);

}  // namespace holdfast::stores::sqlite
