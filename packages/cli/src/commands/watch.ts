/**
 * `evenkeel watch`: prints every change of objects, one line each, with the changed fields.
 */
import { formatMicroTime, stringifyJson } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import { SystemClock } from 'evenkeel/unstable/base'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUp, namespaceOf } from '../lookup.ts'
import { changesBetween, safeText } from '../terminal.ts'

export const watch: Command = {
  name: 'watch',
  about: 'print every change of objects',
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
    const labelSelector = values.text('selector')
    const known = new Map<string, KubeObject>()
    const options = {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
    }
    const { items, metadata } = await client.list({ apiVersion, kind }, { ...options, signal: io.signal })
    for (const item of items) printChange('EXISTS', item, { call, known })
    try {
      for await (const event of client.watch(
        { apiVersion, kind },
        {
          ...options,
          signal: io.signal,
          ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
        },
      )) {
        if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
          printChange(event.type, event.object, { call, known })
      }
    } catch (error) {
      if (!io.signal.aborted) throw error
    }
    return 0
  },
}

function printChange(
  type: string,
  object: KubeObject,
  {
    call: {
      io: { stdout },
      json,
    },
    known,
  }: { call: Invocation; known: Map<string, KubeObject> },
): void {
  const { name = '', namespace, resourceVersion } = object.metadata
  const id = `${namespace ?? ''}/${name}`
  const old = known.get(id)
  if (type === 'DELETED') known.delete(id)
  else known.set(id, object)
  const changes = old && type === 'MODIFIED' ? changesBetween(old, object) : []
  if (json) {
    stdout.write(`${stringifyJson({ type, changes, object })}\n`)
    return
  }
  const time = formatMicroTime(new SystemClock().now()).slice(11, 23)
  stdout.write(
    safeText(
      `${time} ${type.padEnd(8)} ${namespace === undefined ? '' : `${namespace}/`}${name} @${resourceVersion ?? ''}${changes.length === 0 ? '' : `  ${changes.slice(0, 6).join('  ')}${changes.length > 6 ? `  and ${changes.length - 6} more` : ''}`}\n`,
    ),
  )
}
