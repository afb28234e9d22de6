import type { Words } from './en';
import common from './zh/common';
import place from './zh/place';
import work from './zh/work';

export default { ...common, ...work, ...place } satisfies Record<keyof Words, unknown>;
