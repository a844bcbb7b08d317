/**
 * Tools that read objects: kinds, get, list, explain, ps, events, logs.
 */
import { findByJsonPath, parseJsonPath, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import type { DiscoveredResource } from 'evenkeel/client'
import { explainWord } from '../commands/explain.ts'
import { eventMs, eventsOf, eventSummaryOf, type EventSummary } from '../events.ts'
import { Failure } from '../failure.ts'
import { stateOf } from '../object-state.ts'
import { durationOf } from '../parse.ts'
import { readTable } from '../server-table.ts'
import { ago } from '../terminal.ts'
import { readLogLines } from './log-lines.ts'
import { argument, field, reads, type Tool, type ToolArguments, type ToolCall } from './tool.ts'

const kinds: Tool = {
  name: 'kinds',
  title: 'List kinds',
  about:
    'Lists the kinds of objects that the server has, with their names, groups, subresources and categories. Workloads are in the category "app".',
  input: {
    match: { type: 'string', description: 'Only kinds whose name, short name or group contains this text' },
    category: { type: 'string', description: 'Only kinds of this category: app, all' },
  },
  output: { kinds: field.objects },
  effect: reads,
  narrow: 'give match or category',
  async run(given, { scope, signal }) {
    const match = given.optional('match')?.toLowerCase() ?? ''
    const category = given.optional('category')
    const found = (await scope.kinds(signal)).filter(
      (resource) =>
        [resource.plural, resource.kind, resource.group, ...resource.shortNames].some((name) =>
          name.toLowerCase().includes(match),
        ) &&
        (category === undefined || resource.categories.includes(category)),
    )
    return { kinds: found.map((resource) => kindSummary(resource)) }
  },
}

function kindSummary(resource: DiscoveredResource): JsonObject {
  const { apiVersion, kind, plural, group, namespaced, shortNames, categories, subresources } = resource
  return {
    kind,
    apiVersion,
    name: group === '' ? plural : `${plural}.${group}`,
    namespaced,
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(subresources.length > 0 && { subresources: [...subresources] }),
  }
}

const get: Tool = {
  name: 'get',
  title: 'Get an object',
  about: 'Reads one object: its metadata, spec and status, without managed fields. Values of Secrets are masked.',
  input: {
    ...argument,
    path: {
      type: 'string',
      description: 'Only the values at this JSON path: .status.conditions, .spec.containers[*].image',
    },
    managedFields: { type: 'boolean', description: 'Keep metadata.managedFields', default: false },
  },
  required: ['kind', 'name'],
  output: { object: field.object, values: { type: 'array' } },
  effect: reads,
  narrow: 'give path, such as .status',
  async run(given, { scope, signal }) {
    const target = await scope.target(given.text('kind'), given.text('name'), {
      namespace: given.optional('namespace'),
    })
    const object = scope.shown(await scope.read(target, signal), { managedFields: given.flag('managedFields') })
    const path = given.optional('path')
    return path === undefined ? { object } : { values: valuesAt(object, path) }
  },
}

/** @throws {Failure} `usage` */
function valuesAt(object: JsonObject, text: string): JsonValue[] {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1] ?? text
  try {
    const path = parseJsonPath(inner.startsWith('.') || inner.startsWith('[') ? inner : `.${inner}`)
    return [...(findByJsonPath(path, object as unknown as KubeObject) ?? [])] as JsonValue[]
  } catch (error) {
    throw new Failure('usage', `path: ${(error as Error).message}`, { cause: error, hint: 'path .status.conditions' })
  }
}

const list: Tool = {
  name: 'list',
  title: 'List objects',
  about:
    'Lists the objects of a kind, a page at a time, without managed fields. With summary only names, states and ages.',
  input: {
    kind: argument.kind,
    namespace: argument.namespace,
    allNamespaces: { type: 'boolean', description: 'Of all namespaces', default: false },
    labelSelector: { type: 'string', description: 'app=web,tier!=db' },
    fieldSelector: { type: 'string', description: 'metadata.name=web' },
    limit: { type: 'integer', minimum: 1, maximum: 500, default: 50, description: 'How many objects a page has' },
    continue: { type: 'string', description: 'The token of the page before' },
    summary: { type: 'boolean', description: 'Only name, namespace, state and age', default: false },
  },
  required: ['kind'],
  output: { items: field.objects, continue: field.text, remaining: field.number },
  effect: reads,
  narrow: 'give summary, a selector or a smaller limit',
  async run(given, { scope, signal }) {
    const resource = await scope.kind(given.text('kind'))
    const { apiVersion, kind } = resource
    const namespace = await namespaceOfList(given, { scope, resource })
    const token = given.optional('continue')
    const [labelSelector, fieldSelector] = [given.optional('labelSelector'), given.optional('fieldSelector')]
    const page = await (
      await scope.client()
    ).page(
      { apiVersion, kind },
      {
        pageSize: given.count('limit', 50),
        ...(namespace !== undefined && { namespace }),
        ...(labelSelector !== undefined && { labelSelector }),
        ...(fieldSelector !== undefined && { fieldSelector }),
        ...(token !== undefined && { continue: token }),
        signal,
      },
    )
    const items = page.items.map((item) => ({ ...item, apiVersion, kind }) as KubeObject)
    const { continue: next, remainingItemCount } = page.metadata as { continue?: string; remainingItemCount?: number }
    return {
      items: items.map((item) => (given.flag('summary') ? objectSummary(item, scope.clock.now()) : scope.shown(item))),
      ...(next && { continue: next }),
      ...(remainingItemCount !== undefined && { remaining: Number(remainingItemCount) }),
    }
  },
}

/** @throws {Failure} `usage`, `not-allowed` */
async function namespaceOfList(
  given: ToolArguments,
  { scope, resource }: Pick<ToolCall, 'scope'> & { readonly resource: DiscoveredResource },
): Promise<string | undefined> {
  if (!given.flag('allNamespaces')) return scope.namespaceFor(resource, given.optional('namespace'))
  if (given.optional('namespace') !== undefined) throw new Failure('usage', 'give namespace or allNamespaces, not both')
  if (scope.limit !== undefined)
    throw new Failure('not-allowed', `this server is limited to namespace ${scope.limit}: leave allNamespaces out`)
  return undefined
}

export function objectSummary(object: KubeObject, nowMs: number): JsonObject {
  const { name = '', namespace, creationTimestamp } = object.metadata
  const { word, isGood, why } = stateOf(object)
  return {
    kind: object.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    state: word,
    ...(isGood !== undefined && { isGood }),
    ...(why !== '' && { why }),
    age: ago(String(creationTimestamp ?? ''), nowMs),
  }
}

const explain: Tool = {
  name: 'explain',
  title: 'Explain a field',
  about: 'Documents the fields of a kind: types, defaults, allowed values. Use it before writing a manifest.',
  input: {
    field: { type: 'string', description: 'KIND or KIND.FIELD.FIELD: lamp, deployment.spec.strategy' },
    recursive: { type: 'boolean', description: 'All fields below', default: false },
    apiVersion: { type: 'string', description: 'This version of the kind: apps/v1' },
  },
  required: ['field'],
  output: { fields: field.objects, kind: field.text, group: field.text, version: field.text, path: field.text },
  effect: reads,
  narrow: 'name a field below, or leave recursive out',
  async run(given, { scope, signal }) {
    const client = await scope.client()
    const [word, apiVersion] = [given.text('field'), given.optional('apiVersion')]
    // A kind that was installed a moment ago is found by its name.
    await scope.kind(word.split('.')[0] ?? '').catch(() => undefined)
    return explainWord(client, word, { apiVersion, isRecursive: given.flag('recursive'), signal })
  },
}

const ps: Tool = {
  name: 'ps',
  title: 'List workloads',
  about:
    'Lists everything that runs: the objects of all kinds of the category "app", each with its state and the columns of its kind.',
  input: {
    namespace: argument.namespace,
    allNamespaces: { type: 'boolean', description: 'Of all namespaces', default: false },
  },
  output: { workloads: field.objects, notListed: field.objects },
  effect: reads,
  narrow: 'give namespace',
  async run(given, call) {
    const kindsOfApps = (await call.scope.kinds(call.signal)).filter(
      ({ categories, verbs }) => categories.includes('app') && verbs.includes('list'),
    )
    const parts = await Promise.all(kindsOfApps.map((resource) => workloadsOf(resource, given, call)))
    const notListed = parts.flatMap(({ error }) => (error === undefined ? [] : [error]))
    return { workloads: parts.flatMap(({ rows }) => rows), ...(notListed.length > 0 && { notListed }) }
  },
}

/** The rows of a kind; an error of one kind does not hide the others. */
async function workloadsOf(
  resource: DiscoveredResource,
  given: ToolArguments,
  { scope, signal }: ToolCall,
): Promise<{ readonly rows: readonly JsonObject[]; readonly error?: JsonObject }> {
  const { apiVersion, kind } = resource
  const namespace = await namespaceOfList(given, { scope, resource })
  try {
    const client = await scope.client()
    const [{ items }, table] = await Promise.all([
      client.list({ apiVersion, kind }, { ...(namespace !== undefined && { namespace }), signal }),
      readTable(client, resource, { namespace, signal }),
    ])
    const cells = new Map(table.rows.map((row) => [`${row.namespace}/${row.name}`, row.cells]))
    const rows = items.map((item) => {
      const own = cells.get(`${item.metadata.namespace ?? ''}/${item.metadata.name}`) ?? []
      const columns = Object.fromEntries(
        table.headings.flatMap((name, at) => (at === 0 ? [] : [[name, own[at] ?? '']])),
      )
      return { ...objectSummary({ ...item, apiVersion, kind } as KubeObject, scope.clock.now()), columns }
    })
    return { rows }
  } catch (error) {
    if (signal.aborted) throw error
    return { rows: [], error: { kind, why: (error as Error).message } }
  }
}

const events: Tool = {
  name: 'events',
  title: 'List events',
  about: 'Lists the events of one object, or of a namespace, oldest first.',
  input: {
    ...argument,
    warnings: { type: 'boolean', description: 'Only warnings', default: false },
    since: { type: 'string', description: 'Only of the last 5m, 1h' },
    limit: { type: 'integer', minimum: 1, maximum: 500, default: 50, description: 'Only the last ones' },
  },
  output: { events: field.objects },
  effect: reads,
  narrow: 'give since or limit',
  async run(given, call) {
    const since = given.optional('since')
    const fromMs = since === undefined ? -Infinity : call.scope.clock.now() - durationOf('since', since)
    const found = (await readEvents(given, call)).filter(
      (event) => eventMs(event) >= fromMs && (!given.flag('warnings') || event.type === 'Warning'),
    )
    return { events: found.slice(-given.count('limit', 50)).map((event) => ({ ...event })) }
  },
}

/** Of the object, if one is named. @throws {Failure} `usage` for a kind without a name */
async function readEvents(
  given: ToolArguments,
  { scope, signal }: ToolCall,
): Promise<readonly (EventSummary & { readonly about?: string })[]> {
  const client = await scope.client()
  const [kind, name, namespace] = [given.optional('kind'), given.optional('name'), given.optional('namespace')]
  if ((kind === undefined) !== (name === undefined))
    throw new Failure('usage', 'give kind and name, or neither for all events of the namespace')
  if (kind !== undefined && name !== undefined)
    return eventsOf(client, await scope.read(await scope.target(kind, name, { namespace }), signal), { signal })
  const place = await scope.namespaceFor(await scope.kind('events'), namespace)
  const { items } = await client.list(
    { apiVersion: 'v1', kind: 'Event' },
    { ...(place !== undefined && { namespace: place }), signal },
  )
  return items
    .map((event) => {
      const { involvedObject } = event as { involvedObject?: { kind?: string; name?: string } }
      return {
        about: `${involvedObject?.kind?.toLowerCase() ?? ''}/${involvedObject?.name ?? ''}`,
        ...eventSummaryOf(event),
      }
    })
    .sort((a, b) => eventMs(a) - eventMs(b))
}

const logs: Tool = {
  name: 'logs',
  title: 'Read output',
  about:
    'Reads the last lines of the output of an object whose kind has the subresource log, such as a pod or a process.',
  input: {
    ...argument,
    tailLines: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 200,
      description: 'How many lines from the end',
    },
    grep: { type: 'string', description: 'Only lines that contain this text, in any case; tailLines counts them' },
    since: { type: 'string', description: 'Only lines of the last 5m, 1h' },
    previous: { type: 'boolean', description: 'Of the run before the last restart', default: false },
    container: { type: 'string', description: 'Of this container' },
    timestamps: { type: 'boolean', description: 'Begin each line with its time', default: false },
  },
  required: ['kind', 'name'],
  output: { lines: field.texts, truncated: field.text },
  effect: reads,
  narrow: 'give grep, since or a smaller tailLines',
  async run(given, call) {
    const { scope, signal, bytesMax } = call
    const target = await scope.target(given.text('kind'), given.text('name'), {
      namespace: given.optional('namespace'),
    })
    const { resource, name } = target
    if (!resource.subresources.includes('log'))
      throw new Failure('usage', `${resource.singular}/${name} has no output: its kind has no subresource log`, {
        hint: 'the tool events, or why',
      })
    const object = await scope.read(target, signal)
    const since = given.optional('since')
    const container = given.optional('container')
    const { lines, isCut } = await readLogLines(await scope.client(), object, {
      tailLines: given.count('tailLines', 200),
      grep: given.optional('grep'),
      // Quotes and escapes of JSON need some room.
      bytesMax: Math.floor(bytesMax * 0.8),
      parameters: {
        ...(since !== undefined && { sinceSeconds: Math.max(1, Math.round(durationOf('since', since) / 1000)) }),
        ...(given.flag('previous') && { previous: true }),
        ...(given.flag('timestamps') && { timestamps: true }),
        ...(container !== undefined && { container }),
      },
      signal,
    })
    return {
      lines: [...lines],
      ...(isCut && { truncated: 'earlier lines are left out: give grep, since or a smaller tailLines' }),
    }
  },
}

export const readTools: readonly Tool[] = [kinds, get, list, explain, ps, events, logs]
