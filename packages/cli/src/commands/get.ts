/**
 * `evenkeel get`: prints objects as a table, as kubectl does, or as YAML or JSON.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from 'evenkeel/unstable/api'
import type { Client } from 'evenkeel/client'
import { namespaceOptions, selectorOptions, type Command, type Invocation } from '../command.ts'
import { lookUp, namespaceOf, oneNamespaceOf, type ResourceTarget } from '../lookup.ts'
import { withoutManagedFields } from '../manifests.ts'
import { orSuggest } from '../not-found.ts'
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
    ...selectorOptions,
    output: { type: 'string', short: 'o', choices: ['table', 'wide', 'yaml', 'json', 'name'], about: 'the format' },
    'show-managed-fields': { type: 'boolean', about: 'with yaml and json: keep metadata.managedFields' },
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
    const namespace = (names.length === 0 ? namespaceOf : oneNamespaceOf)(values, resource, client)
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
        : names.map((name) =>
            orSuggest(readTable(client, resource, { ...query, name }), client, {
              object: { ...resource, name, namespace },
              signal,
            }),
          ),
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
      targets.every(({ resource }) => !resource.namespaced) || values.flag('all-namespaces')
        ? 'No objects found.\n'
        : `No objects found in namespace ${values.text('namespace') ?? client.namespace ?? 'default'}. Use -A for all namespaces.\n`,
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
  const { apiVersion, kind } = resource
  const query = {
    namespace: (names.length === 0 ? namespaceOf : oneNamespaceOf)(values, resource, client),
    labelSelector: values.text('selector'),
    fieldSelector: values.text('field-selector'),
  }
  const read = async (path: string): Promise<JsonValue> =>
    parseJson((await client.raw({ path, headers: { accept: 'application/json' } }, { signal })).text()) as JsonValue
  const bodies = await Promise.all(
    names.length === 0
      ? [read(pathOf(resource, query))]
      : names.map((name) =>
          orSuggest(read(pathOf(resource, { ...query, name })), client, {
            object: { apiVersion, kind, name, namespace: query.namespace },
            signal,
          }),
        ),
  )
  const objects = bodies.filter(isJsonObject).flatMap((body) => {
    const { items } = body
    return Array.isArray(items) ? items.filter(isJsonObject).map((item) => ({ apiVersion, kind, ...item })) : [body]
  })
  return values.flag('show-managed-fields') ? objects : objects.map(withoutManagedFields)
}

function nameOf({ kind, metadata }: JsonObject): string {
  const { name } = isJsonObject(metadata) ? metadata : {}
  return `${String(kind).toLowerCase()}/${String(name)}`
}
