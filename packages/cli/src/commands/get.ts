/**
 * `evenkeel get`: prints objects as a table, as kubectl does, or as YAML or JSON.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from 'evenkeel/unstable/api'
import type { Client } from 'evenkeel/client'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUp, namespaceOf, type ResourceTarget } from '../lookup.ts'
import { pathOf, readTable, type ServerTable } from '../server-table.ts'
import { formatTable, safeText } from '../terminal.ts'

export const get: Command = {
  name: 'get',
  about: 'list objects',
  usage: 'KIND [NAME ...] | KIND/NAME ...',
  words: { least: 1, most: Infinity },
  completes: 'kinds',
  options: {
    ...namespaceOptions,
    selector: {
      type: 'string',
      short: 'l',
      value: 'LABELS',
      about: 'only objects with these labels: app=web,tier!=db',
    },
    'field-selector': {
      type: 'string',
      value: 'FIELDS',
      about: 'only objects with these field values: metadata.name=web',
    },
    output: { type: 'string', short: 'o', choices: ['table', 'wide', 'yaml', 'json', 'name'], about: 'how' },
  },
  details:
    'KIND is a plural, singular or short name, optionally with a group: deploy, websites.demo.example.com. Several: pods,services.',
  examples: ['evenkeel get namespaces', 'evenkeel get apps -A', 'evenkeel get app/web -o yaml'],
  async run(call) {
    const client = await call.connect()
    const targets = await lookUp(client, call.words)
    const form = call.json ? 'json' : (call.values.text('output') ?? 'table')
    return form === 'table' || form === 'wide'
      ? showTables(client, targets, { call, isWide: form === 'wide' })
      : showObjects(client, targets, { call, form })
  },
}

async function showTables(
  client: Client,
  targets: readonly ResourceTarget[],
  { call, isWide }: { call: Invocation; isWide: boolean },
): Promise<number> {
  const {
    values,
    io: { stdout, stderr, signal },
  } = call
  let shown = 0
  for (const { resource, names } of targets) {
    const namespace = namespaceOf(values, resource, client)
    const query = {
      namespace,
      isWide,
      signal,
      labelSelector: values.text('selector'),
      fieldSelector: values.text('field-selector'),
    }
    const tables = await Promise.all(
      names.length === 0
        ? [readTable(client, resource, query)]
        : names.map((name) => readTable(client, resource, { ...query, name })),
    )
    const table = joined(tables, {
      withNamespace: resource.namespaced && namespace === undefined,
      prefix: targets.length > 1 && names.length === 0 ? `${resource.singular}/` : '',
    })
    if (table.rows.length === 0) continue
    if (shown > 0) stdout.write('\n')
    shown += table.rows.length
    stdout.write(
      formatTable(
        table.headings,
        table.rows.map(({ cells }) => cells),
        { columns: stdout.isTTY ? stdout.columns : undefined },
      ),
    )
  }
  if (shown === 0)
    stderr.write(
      `No objects found${values.flag('all-namespaces') ? '' : ` in namespace ${values.text('namespace') ?? client.namespace ?? 'default'}; use -A for all namespaces`}.\n`,
    )
  return 0
}

function joined(
  tables: readonly ServerTable[],
  { withNamespace, prefix }: { withNamespace: boolean; prefix: string },
): ServerTable {
  const headings = tables[0]?.headings ?? []
  const rows = tables
    .flatMap((table) => table.rows)
    .map((row) => {
      const [first = '', ...rest] = row.cells
      return { ...row, cells: [...(withNamespace ? [row.namespace] : []), `${prefix}${first}`, ...rest] }
    })
  return { headings: withNamespace ? ['Namespace', ...headings] : headings, rows }
}

async function showObjects(
  client: Client,
  targets: readonly ResourceTarget[],
  { call, form }: { call: Invocation; form: string },
): Promise<number> {
  const objects = (await Promise.all(targets.map((target) => readObjects(client, target, call)))).flat()
  const isOne = targets.length === 1 && targets[0]?.names.length === 1
  const { stdout } = call.io
  if (form === 'name') for (const object of objects) stdout.write(`${nameOf(object)}\n`)
  else {
    const whole = isOne && objects[0] ? objects[0] : { apiVersion: 'v1', kind: 'List', items: objects }
    stdout.write(
      form === 'json'
        ? `${stringifyJson(whole, call.io.stdout.isTTY ? 2 : 0)}\n`
        : safeText((await import('yaml')).stringify(whole)),
    )
  }
  return 0
}

async function readObjects(
  client: Client,
  { resource, names }: ResourceTarget,
  { values, io: { signal } }: Invocation,
): Promise<readonly JsonObject[]> {
  const query = {
    namespace: namespaceOf(values, resource, client),
    labelSelector: values.text('selector'),
    fieldSelector: values.text('field-selector'),
  }
  if (names.length > 0 && resource.namespaced && query.namespace === undefined)
    throw new Failure('usage', 'a name needs one namespace: use -n instead of -A')
  const paths =
    names.length === 0 ? [pathOf(resource, query)] : names.map((name) => pathOf(resource, { ...query, name }))
  const answers = await Promise.all(
    paths.map((path) => client.raw({ path, headers: { accept: 'application/json' } }, { signal })),
  )
  return answers.flatMap((answer) => {
    const body = parseJson(answer.text()) as JsonValue
    if (!isJsonObject(body)) return []
    return Array.isArray(body['items'])
      ? body['items']
          .filter(isJsonObject)
          .map((item) => ({ apiVersion: resource.apiVersion, kind: resource.kind, ...item }))
      : [body]
  })
}

function nameOf({ kind, metadata }: JsonObject): string {
  const { name } = isJsonObject(metadata) ? metadata : {}
  return `${String(kind).toLowerCase()}/${String(name)}`
}
