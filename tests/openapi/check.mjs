// Checks the OpenAPI description that a server hands out, and that the server keeps to it:
//   - it is valid OpenAPI 3.1, and its references, names and parameters are in order;
//   - every example is what its schema says, and the server accepts every example of a request;
//   - what the server answers is what the schema of the answer says, with no field that is not described.
//
//   node check.mjs [BINARY]        build/release/holdfast of the tree unless said
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const binary = resolve(process.argv[2] ?? fileURLToPath(new URL("../../build/release/holdfast", import.meta.url)));
let checks = 0;
const wrong = [];

function check(good, text) {
  checks += 1;
  if (!good) wrong.push(text);
}

// ---- the description in itself ----

async function isValidOpenApi(text) {
  const result = await new Validator().validate(JSON.parse(text));
  check(result.valid, `not valid OpenAPI: ${JSON.stringify(result.errors, null, 1)}`);
}

const METHODS = ["get", "put", "post", "delete"];

function operations(description) {
  return Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })),
  );
}

function* walk(value, at = "#") {
  if (value === null || typeof value !== "object") return;
  yield [at, value];
  for (const [key, child] of Object.entries(value)) {
    yield* walk(child, `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

function isInOrder(description) {
  const used = new Set();
  for (const [at, value] of walk(description)) {
    if (typeof value.$ref !== "string") continue;
    used.add(value.$ref);
    const name = value.$ref.replace("#/components/schemas/", "");
    check(name in description.components.schemas, `${at}: ${value.$ref} leads nowhere`);
  }
  for (const name of Object.keys(description.components.schemas)) {
    check(used.has(`#/components/schemas/${name}`), `schema ${name} is not used`);
  }
  const ids = operations(description).map((operation) => operation.operationId);
  check(new Set(ids).size === ids.length, "an operationId is there twice");
  for (const operation of operations(description)) {
    const named = [...operation.path.matchAll(/{(\w+)}/g)].map((match) => match[1]);
    const told = (operation.parameters ?? []).filter((p) => p.in === "path").map((p) => p.name);
    check(named.join() === told.join(), `${operation.path}: its parameters are ${named}, not ${told}`);
    check(operation.summary, `${operation.operationId} has no summary`);
    check("default" in operation.responses, `${operation.operationId} does not say how it refuses`);
  }
}

function compiler(description) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats(ajv);
  // Words of OpenAPI that say nothing about what is valid.
  ajv.addVocabulary(["components", "paths", "info", "openapi", "servers", "security", "tags"]);
  ajv.addSchema({ $id: "holdfast", ...description });
  return (pointer) => ajv.compile({ $ref: `holdfast${pointer}` });
}

const described = (validate) => validate.errors.map((e) => `${e.instancePath || "/"} ${e.message}`).join("; ");

function examplesFit(description, compile) {
  let examples = 0;
  for (const [at, value] of walk(description)) {
    if (!Array.isArray(value.examples)) continue;
    const validate = compile(at.split("/").map(encodeURIComponent).join("/").replace("%23", "#"));
    for (const example of value.examples) {
      examples += 1;
      check(validate(example), `${at}: ${JSON.stringify(example)}: ${validate.errors && described(validate)}`);
    }
  }
  check(examples > 20, `only ${examples} examples`);
}

// ---- the server and its description ----

class Server {
  static async start() {
    const server = new Server();
    server.process = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--store", "memory:", "--log-level", "error"], {
      stdio: ["ignore", "pipe", "inherit"],
      cwd: tmpdir(),
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HOLDFAST_"))),
    });
    const lines = createInterface({ input: server.process.stdout });
    const [line] = await Promise.race([
      once(lines, "line"),
      once(server.process, "exit").then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
    ]);
    server.url = line.replace("listening on ", "");
    return server;
  }

  async stop() {
    const exit = once(this.process, "exit");
    this.process.kill("SIGTERM");
    const [code] = await exit;
    check(code === 0, `the server ended with ${code}`);
  }

  async call(method, path, body) {
    const answer = await fetch(this.url + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const type = answer.headers.get("content-type") ?? "";
    return { status: answer.status, type, body: type.includes("json") ? await answer.json() : await answer.text() };
  }
}

// The fields of an answer that its schema does not know. What has no properties of its own may hold anything.
function undescribed(value, schema, description, at = "") {
  while (schema?.$ref) schema = description.components.schemas[schema.$ref.split("/").pop()];
  const choices = (schema?.anyOf ?? schema?.oneOf)?.map((s) => undescribed(value, s, description, at));
  if (choices) return choices.reduce((a, b) => (a.length <= b.length ? a : b));
  if (Array.isArray(value)) {
    return schema?.items ? value.flatMap((v, i) => undescribed(v, schema.items, description, `${at}[${i}]`)) : [];
  }
  if (value === null || typeof value !== "object" || !schema?.properties) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    name in schema.properties
      ? undescribed(child, schema.properties[name], description, `${at}.${name}`)
      : [`${at}.${name}`],
  );
}

class Keeper {
  constructor(server, description, compile) {
    Object.assign(this, { server, description, compile, seen: new Set() });
  }

  /// Calls an operation and holds the answer to what the description says of it.
  async call(id, fill = {}, body = undefined, query = "") {
    const operation = operations(this.description).find((o) => o.operationId === id);
    if (!operation) {
      check(false, `no operation ${id}`);
      return {};
    }
    const path = operation.path.replaceAll(/{(\w+)}/g, (_, name) => fill[name]);
    const answer = await this.server.call(operation.method.toUpperCase(), path + query, body);
    const what = `${id} → ${answer.status}`;
    this.seen.add(id);
    const place = answer.status in operation.responses ? String(answer.status) : "default";
    if (place === "default") check(answer.status >= 400, `${what} is not described`);
    const content = operation.responses[place].content ?? {};
    const media = answer.type.split(";")[0];
    check(media in content, `${what}: it is ${media}, described is ${Object.keys(content)}`);
    const schema = content[media]?.schema;
    if (schema && media.includes("json")) {
      const part = ["paths", operation.path, operation.method, "responses", place, "content", media, "schema"];
      const pointer = part.map((p) => encodeURIComponent(p.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
      const validate = this.compile(`#/${pointer}`);
      check(validate(answer.body), `${what}: ${validate.errors && described(validate)}`);
      const unknown = undescribed(answer.body, schema, this.description);
      check(unknown.length === 0, `${what}: not described: ${[...new Set(unknown)].join(" ")}`);
    }
    return answer.body;
  }

  /// The first example of the body of an operation.
  example(id) {
    const operation = operations(this.description).find((o) => o.operationId === id);
    let schema = operation.requestBody.content["application/json"].schema;
    const name = () => schema.$ref?.split("/").pop();
    while (schema && !schema.examples) schema = schema.anyOf?.[0] ?? this.description.components.schemas[name()];
    return schema?.examples[0];
  }
}

const item = ({ id, attempt, epoch }) => ({ id, attempt, epoch });

async function answersFit(keeper) {
  const submit = (more = {}) => keeper.call("submit", {}, { type: "t", queue: "q", ...more });
  const claim = async (max = 1) =>
    (await keeper.call("claim", {}, { queues: ["q"], worker: "w", max, wait: "5s" })).tasks ?? [];

  const first = await submit({ labels: { a: "b" }, user: { n: 1 }, placeholder: "soon", tenant: "acme", timeout: "1h" });
  await keeper.call("submit", {}, [{ type: "t", queue: "q" }, { type: "no good" }]);
  await keeper.call("submit", {}, { type: "no good" });
  await keeper.call("submit", {}, { type: "t", queue: "q", delay: "1h" }, "?wait=10ms");
  const [task] = await claim();
  await keeper.call("heartbeat", {}, { worker: "w", items: [{ ...item(task), progress: 0.5, note: "half" }] });
  await keeper.call("heartbeat", {}, { items: [{ ...item(task), epoch: 1 }] });
  await keeper.call("checkpoint", {}, { items: [{ ...item(task), stage: "a", data: 1 }] });
  await keeper.call("yield", {}, { items: [item(task)] });
  await keeper.call("signalTask", { id: first.id }, { data: { a: 1 } });
  const both = await claim(2);
  const error = { kind: "permanent", message: "no", stack: "here", code: "E" };
  await keeper.call("fail", {}, { items: [{ ...item(both[0]), error }] });
  await keeper.call("complete", {}, { items: [{ ...item(both[1]), result: [1] }, { ...item(both[1]), epoch: 1 }] });
  for (const { id } of both) {
    await keeper.call("getTask", { id });
    await keeper.call("getHistory", { id });
    await keeper.call("explainTask", { id });
  }
  await keeper.call("listTasks", {}, undefined, "?limit=2");
  await keeper.call("listTasks", {}, undefined, "?fields=header&q=state%3Asuspended%20label.a%3Ab");
  await keeper.call("listTasks", {}, undefined, "?q=kind%3Ax");
  await keeper.call("getFacets", {}, undefined, "?q=-state%3Asucceeded");
  const failures = await keeper.call("listFailures", {}, undefined, "?q=queue%3Aq");
  await keeper.call("getFailure", { fingerprint: failures.groups[0].fingerprint });
  await keeper.call("listSuspended", {});
  await keeper.call("resumeTask", { id: both[0].id }, { payload: { b: 2 } });
  await keeper.call("getRevisions", { id: both[0].id });
  await keeper.call("resumeTask", { id: both[0].id }, { reason: "again" });
  for (const id of ["pauseTask", "cancelTask", "discardTask"]) await keeper.call(id, { id: (await submit()).id }, {});
  await keeper.call("resumeSuspended", {}, { filter: {} });
  await keeper.call("discardSuspended", {}, { ids: [first.id] });

  for (const id of ["pauseQueue", "resumeQueue", "closeQueue", "openQueue"]) await keeper.call(id, { queue: "q" }, {});
  await keeper.call("limitQueue", { queue: "q" }, { concurrency: 4 });
  for (const id of ["listQueues", "getStats", "getInternalStats", "listWorkers"]) await keeper.call(id);
  await keeper.call("getQueue", { queue: "q" });
  await keeper.call("drainWorker", { worker: "nobody" }, {});
  await keeper.call("work");

  for (let i = 0; i < 2; i += 1) {
    await keeper.call("submit", {}, Array.from({ length: 1000 }, () => ({ type: "t", queue: "many" })));
  }
  await keeper.call("startBulk", {}, { action: "cancel", filter: { queue: "many" }, dry_run: true });
  await keeper.call("startBulk", {}, { action: "cancel", ids: [first.id], dry_run: true });
  const job = await keeper.call("startBulk", {}, { action: "cancel", filter: { queue: "many" }, rate: 100 });
  await keeper.call("listBulk");
  for (const id of ["getBulk", "pauseBulk", "resumeBulk", "stopBulk"]) await keeper.call(id, { id: job.bulk_id });
  for (const id of ["getHealth", "getReadiness", "getDoctor", "listInstances", "getConfig", "getOpenapi", "getMetrics", "getDashboard", "getDashboardHome", "getDashboardOverview", "getIcon"]) {
    await keeper.call(id);
  }
  await keeper.call("getDashboardPage", { page: "tasks" });
  await keeper.call("getDashboardItem", { page: "tasks", item: "one" });
  await keeper.call("getDashboardFile", { file: "none.js" });
  await keeper.call("revealTask", { id: both[0].id }, { reason: "a test" });
  await keeper.call("getTask", { id: both[0].id }, undefined, "?redact=1");
  await keeper.call("listAudit", {}, undefined, "?limit=5");
  await keeper.call("getSeries", {}, undefined, "?range=15m");
  await keeper.call("getSeries", {}, undefined, "?range=1h&queue=q");
  const streams = ["events", "taskEvents"]; // endless
  for (const { operationId } of operations(keeper.description)) {
    check(keeper.seen.has(operationId) || streams.includes(operationId), `${operationId} was not called`);
  }
}

async function examplesAreAccepted(keeper) {
  const { id } = await keeper.call("submit", {}, { type: "t" });
  for (const operation of operations(keeper.description)) {
    if (!operation.requestBody) continue;
    const example = keeper.example(operation.operationId);
    check(example !== undefined, `the body of ${operation.operationId} has no example`);
    if (example === undefined) continue;
    const body = "wait" in example ? { ...example, wait: "0s" } : example;
    const path = operation.path.replaceAll(/{(\w+)}/g, (_, name) => (name === "id" ? id : "q"));
    const { status, body: said } = await keeper.server.call(operation.method.toUpperCase(), path, body);
    // There may be no such thing, or it may not be possible just now; but it is never wrong in itself.
    check([200, 202, 404, 409].includes(status), `${operation.operationId} refuses its example: ${JSON.stringify(said)}`);
  }
}

const server = await Server.start();
try {
  const text = (await (await fetch(`${server.url}/openapi.json`)).text());
  const description = JSON.parse(text);
  await isValidOpenApi(text);
  isInOrder(description);
  const compile = compiler(description);
  examplesFit(description, compile);
  const keeper = new Keeper(server, description, compile);
  await answersFit(keeper);
  await examplesAreAccepted(keeper);
} finally {
  await server.stop();
}
for (const text of wrong) console.log(`WRONG ${text}`);
console.log(`${checks} checks, ${wrong.length} failed`);
process.exitCode = wrong.length > 0 ? 1 : 0;
