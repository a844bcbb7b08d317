/**
 * `evenkeel delete`: deletes objects by name, by file or by label, with a choice for their dependents.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { lookUp, namespaceOf, type ResourceTarget } from '../lookup.ts'
import { readManifests } from '../manifests.ts'
import { orSuggest } from '../not-found.ts'

const cascades = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

export const remove: Command = {
  name: 'delete',
  about: 'delete objects',
  usage: 'KIND NAME ... | KIND/NAME ... | -f FILE',
  words: { least: 0, most: Infinity },
  completes: 'kinds',
  options: {
    ...namespaceOptions,
    file: {
      type: 'string',
      short: 'f',
      multiple: true,
      value: 'FILE',
      about: 'delete the objects of these files; - reads standard input',
    },
    selector: { type: 'string', short: 'l', value: 'LABELS', about: 'all objects with these labels' },
    cascade: {
      type: 'string',
      choices: Object.keys(cascades),
      about: 'what happens to dependents (default: that of the kind)',
    },
    'ignore-not-found': { type: 'boolean', about: 'do not fail for objects that do not exist' },
  },
  examples: ['evenkeel delete app/web', 'evenkeel delete -f app.yaml --cascade foreground'],
  async run(call) {
    const { values, words } = call
    const files = values.texts('file')
    if (files.length > 0 === words.length > 0)
      throw new Failure('usage', 'name the objects to delete: KIND NAME, KIND/NAME, or -f FILE', {
        hint: 'evenkeel delete --help',
      })
    const client = await call.connect()
    const refs =
      files.length > 0
        ? await readManifests(files, call.io)
        : (await Promise.all((await lookUp(client, words)).map((target) => refsOf(client, target, call)))).flat()
    const gone = await removeAll(client, refs, call)
    if (gone === 0 && !call.json) call.io.stdout.write('No objects deleted.\n')
    return 0
  },
}

async function refsOf(
  client: Client,
  { resource, names }: ResourceTarget,
  { values, io: { signal } }: Invocation,
): Promise<readonly KubeObject[]> {
  const { apiVersion, kind } = resource
  const namespace = namespaceOf(values, resource, client)
  const labelSelector = values.text('selector')
  if (names.length > 0)
    return names.map((name) => ({
      apiVersion,
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }) },
    }))
  if (labelSelector === undefined)
    throw new Failure('usage', `name the ${resource.plural} to delete, or use labels with -l`, {
      hint: `evenkeel delete ${resource.singular}/NAME`,
    })
  const { items } = await client.list(
    { apiVersion, kind },
    { labelSelector, ...(namespace !== undefined && { namespace }), signal },
  )
  return items.map(({ metadata }) => ({
    apiVersion,
    kind,
    metadata: { name: metadata.name, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) },
  }))
}

async function removeAll(
  client: Client,
  refs: readonly KubeObject[],
  { values, io: { stdout, signal }, json }: Invocation,
): Promise<number> {
  const cascade = values.text('cascade') as keyof typeof cascades | undefined
  let count = 0
  for (const ref of refs) {
    const { name = '', namespace } = ref.metadata
    const deleting = client.delete(ref, {
      signal,
      ignoreNotFound: values.flag('ignore-not-found'),
      ...(cascade && { propagationPolicy: cascades[cascade] }),
    })
    const left = await orSuggest(deleting, client, {
      object: { apiVersion: ref.apiVersion, kind: ref.kind, name, namespace },
      signal,
    })
    const waiting = (left as { metadata?: { finalizers?: readonly string[] } } | undefined)?.metadata?.finalizers ?? []
    count++
    if (json)
      stdout.write(
        `${JSON.stringify({ deleted: { apiVersion: ref.apiVersion, kind: ref.kind, name, ...(namespace !== undefined && { namespace }) }, waitingFor: waiting })}\n`,
      )
    else
      stdout.write(
        `${ref.kind.toLowerCase()}/${name} ${waiting.length === 0 ? 'deleted' : `is being deleted and waits for ${waiting.join(', ')} (evenkeel why ${ref.kind.toLowerCase()}/${name})`}\n`,
      )
  }
  return count
}
