/**
 * `evenkeel describe`: one object in detail: owners, fields, conditions and events.
 */
import { isJsonObject, type JsonObject, stringifyJson } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import { SystemClock } from 'evenkeel/unstable/base'
import type { stringify } from 'yaml'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { eventsOf, type EventSummary } from '../events.ts'
import { readTargets } from '../lookup.ts'
import { ago, formatTable, safeText } from '../terminal.ts'

export const describe: Command = {
  name: 'describe',
  about: 'show everything about an object: owners, conditions, events',
  usage: 'KIND NAME ... | KIND/NAME ...',
  words: { least: 1, most: Infinity },
  completes: 'kinds',
  options: namespaceOptions,
  examples: ['evenkeel describe app/web'],
  async run(call) {
    const { io, json } = call
    const client = await call.connect()
    const objects = await readTargets(client, call)
    const described = await Promise.all(
      objects.map(async (object) => ({ object, events: await eventsOf(client, object, io) })),
    )
    if (json) io.stdout.write(`${stringifyJson(described)}\n`)
    else {
      const { stringify: toYaml } = await import('yaml')
      io.stdout.write(described.map((each) => page({ ...each, toYaml }, call)).join('\n---\n\n'))
    }
    return 0
  },
}

interface Described {
  readonly object: KubeObject
  readonly events: readonly EventSummary[]
}

interface PageOptions {
  readonly toYaml: typeof stringify
}

function page({ object, events, toYaml }: Described & PageOptions, { io: { stdout } }: Invocation): string {
  const now = new SystemClock().now()
  const { metadata, apiVersion, kind } = object
  const { spec, status, ...rest } = object as KubeObject & { spec?: JsonObject; status?: JsonObject }
  const { conditions, ...otherStatus } = isJsonObject(status) ? status : {}
  const { apiVersion: _, kind: __, metadata: ___, ...data } = rest as Record<string, unknown>
  const facts: [string, string][] = [
    ['Name', metadata.name ?? ''],
    ...(metadata.namespace === undefined ? [] : [['Namespace', metadata.namespace] as [string, string]]),
    ['Kind', `${kind} (${apiVersion})`],
    ['Created', `${metadata.creationTimestamp ?? ''} (${ago(String(metadata.creationTimestamp ?? ''), now)} ago)`],
    ...(metadata.deletionTimestamp === undefined
      ? []
      : [
          [
            'Deleting',
            `since ${ago(String(metadata.deletionTimestamp), now)}; waits for ${(metadata.finalizers ?? []).join(', ') || 'nothing'}`,
          ] as [string, string],
        ]),
    ...pairs('Labels', metadata.labels),
    ...pairs('Annotations', metadata.annotations),
    ...(metadata.ownerReferences ?? []).map(
      ({ kind: owner, name, controller = false }) =>
        [controller ? 'Controlled by' : 'Owned by', `${owner}/${name}`] as [string, string],
    ),
    ...(metadata.finalizers === undefined ? [] : [['Finalizers', metadata.finalizers.join(', ')] as [string, string]]),
  ]
  const width = Math.max(...facts.map(([name]) => name.length)) + 3
  return [
    facts.map(([name, value]) => safeText(`${`${name}:`.padEnd(width)}${value}\n`)).join(''),
    section('Spec', spec, toYaml),
    ...Object.entries(data).map(([name, value]) => section(name, hidden(kind, name, value), toYaml)),
    section('Status', otherStatus, toYaml),
    conditionsTable(conditions, now),
    eventsTable(events, { now, columns: stdout.isTTY ? stdout.columns : undefined }),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function pairs(name: string, values: Readonly<Record<string, string>> | undefined): [string, string][] {
  return Object.entries(values ?? {}).map(([key, value], index) => [
    index === 0 ? name : '',
    `${key}=${value.length > 200 ? `${value.slice(0, 200)}…` : value}`,
  ])
}

/** The values of a Secret are shown as their length. */
function hidden(kind: string, name: string, value: unknown): unknown {
  if (kind !== 'Secret' || !['data', 'stringData'].includes(name) || typeof value !== 'object' || value === null)
    return value
  return Object.fromEntries(
    Object.entries(value).map(([key, text]) => [key, `${Buffer.from(String(text), 'base64').length} bytes`]),
  )
}

function section(title: string, value: unknown, toYaml: typeof stringify): string {
  if (value === undefined || (isJsonObject(value as never) && Object.keys(value as object).length === 0)) return ''
  const text = toYaml(value).replace(/^/gm, '  ').trimEnd()
  return safeText(`${title[0]?.toUpperCase() ?? ''}${title.slice(1)}:\n${text}\n`)
}

function conditionsTable(conditions: unknown, now: number): string {
  if (!Array.isArray(conditions) || conditions.length === 0) return ''
  const rows = conditions
    .filter(isJsonObject)
    .map(({ type, status, reason, message, lastTransitionTime }) =>
      [type, status, reason, ago(String(lastTransitionTime ?? ''), now), message].map((cell) => String(cell ?? '')),
    )
  return `Conditions:\n${formatTable(['Type', 'Status', 'Reason', 'Since', 'Message'], rows).replace(/^/gm, '  ').trimEnd()}\n`
}

function eventsTable(
  events: readonly EventSummary[],
  { now, columns }: { now: number; columns: number | undefined },
): string {
  if (events.length === 0) return 'Events: none\n'
  const rows = events.map(({ type, reason, lastTime, count, from, message }) => [
    type,
    reason,
    `${ago(lastTime, now)}${count > 1 ? ` (x${count})` : ''}`,
    from,
    message,
  ])
  return `Events:\n${formatTable(['Type', 'Reason', 'Age', 'From', 'Message'], rows, {
    columns: columns === undefined ? undefined : columns - 2,
  })
    .replace(/^/gm, '  ')
    .trimEnd()}\n`
}
