/**
 * `evenkeel watch`: prints every change of objects, one line each, with the changed fields.
 */
import { formatMicroTime, stringifyJson } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUp, namespaceOf } from '../lookup.ts'
import { watchObjects } from '../object-watch.ts'
import { changesBetween, safeText } from '../terminal.ts'

export const watch: Command = {
  name: 'watch',
  about: 'print changes of objects as they happen',
  usage: 'KIND [NAME]',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    ...namespaceOptions,
    selector: { type: 'string', short: 'l', value: 'LABELS', about: 'only objects with these labels' },
  },
  examples: ['evenkeel watch apps', 'evenkeel watch deploy/web --json'],
  async run(call) {
    const { values, io, words } = call
    const client = await call.connect()
    const [target, more] = await lookUp(client, words)
    if (!target || more) throw new Failure('usage', 'watch takes one kind', { hint: 'evenkeel watch apps' })
    const {
      resource: { apiVersion, kind, namespaced },
      names: [name],
    } = target
    const namespace = namespaceOf(values, { namespaced }, client)
    const shown: ShownObjects = { call, known: new Map() }
    const changes = watchObjects(
      client,
      { apiVersion, kind },
      {
        namespace,
        labelSelector: values.text('selector'),
        fieldSelector: name === undefined ? undefined : `metadata.name=${name}`,
        signal: io.signal,
        clock: io.clock,
      },
    )
    let isFirst = true
    try {
      for await (const change of changes) {
        if (change.type === 'LISTED') printListed(change.objects, { ...shown, isFirst })
        else printChange(change.type, change.object, shown)
        isFirst = false
      }
    } catch (error) {
      if (!io.signal.aborted) throw error
    }
    return 0
  },
}

interface ShownObjects {
  readonly call: Invocation
  /** As they were printed last, by namespace and name. */
  readonly known: Map<string, KubeObject>
}

/** The objects at the start, or what changed while no watch was open. */
function printListed(objects: readonly KubeObject[], { isFirst, ...shown }: ShownObjects & { isFirst: boolean }): void {
  const ids = new Set(objects.map(idOf))
  for (const [id, old] of [...shown.known]) if (!ids.has(id)) printChange('DELETED', old, shown)
  for (const object of objects) {
    const old = shown.known.get(idOf(object))
    if (!old) printChange(isFirst ? 'EXISTS' : 'ADDED', object, shown)
    else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) printChange('MODIFIED', object, shown)
  }
}

function idOf({ metadata: { name = '', namespace = '' } }: KubeObject): string {
  return `${namespace}/${name}`
}

function printChange(type: string, object: KubeObject, { call: { io, json }, known }: ShownObjects): void {
  const { stdout, clock } = io
  const { name = '', namespace, resourceVersion } = object.metadata
  const id = idOf(object)
  const old = known.get(id)
  if (type === 'DELETED') known.delete(id)
  else known.set(id, object)
  const changes = old && type === 'MODIFIED' ? changesBetween(old, object) : []
  if (json) {
    stdout.write(`${stringifyJson({ type, changes, object })}\n`)
    return
  }
  const time = formatMicroTime(clock.now()).slice(11, 23)
  stdout.write(
    safeText(
      `${time} ${type.padEnd(8)} ${namespace === undefined ? '' : `${namespace}/`}${name} @${resourceVersion ?? ''}${changes.length === 0 ? '' : `  ${changes.slice(0, 6).join('  ')}${changes.length > 6 ? `  and ${changes.length - 6} more` : ''}`}\n`,
    ),
  )
}
