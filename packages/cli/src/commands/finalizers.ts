/**
 * `evenkeel finalizers`: lists objects whose deletion is blocked, with the reason; removes finalizers by force.
 */
import { formatTime, isJsonObject, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import { metadataOnly, type Client } from 'evenkeel/client'
import { namespaceOptions, type Command, type Invocation, type Io } from '../command.ts'
import { Failure } from '../failure.ts'
import { readTarget } from '../lookup.ts'
import { blockedBecause } from '../object-state.ts'
import { ago, formatTable, safeText } from '../terminal.ts'
import { refOf } from '../why-answer.ts'

export const finalizers: Command = {
  name: 'finalizers',
  about: 'list objects with a blocked deletion, or remove finalizers by force',
  usage: 'list | force KIND/NAME',
  words: { least: 1, most: 3 },
  completes: ['list', 'force'],
  options: {
    ...namespaceOptions,
    finalizer: { type: 'string', value: 'NAME', about: 'with force: remove only this one' },
    yes: { type: 'boolean', about: 'with force: remove them; without: print what would happen' },
  },
  details:
    'force removes finalizers without their cleanup. It prints which resources may leak, and records them as an Event.',
  examples: [
    'evenkeel finalizers list -A',
    'evenkeel finalizers force app/web',
    'evenkeel finalizers force app/web --yes',
  ],
  async run(call) {
    const [verb, ...rest] = call.words
    const client = await call.connect({ warnings: false })
    if (verb === 'list' && rest.length === 0) return list(client, call)
    if (verb === 'force' && rest.length > 0) return force(client, { ...call, words: rest })
    throw new Failure('usage', 'evenkeel finalizers takes list, or force KIND/NAME', {
      hint: 'evenkeel finalizers --help',
    })
  },
}

async function list(client: Client, { values, io, json }: Invocation): Promise<number> {
  const now = io.clock.now()
  const namespace = values.flag('all-namespaces') ? undefined : values.text('namespace')
  const stuck: KubeObject[] = []
  for (const { apiVersion, kind, verbs, namespaced } of await client.resources()) {
    if (!verbs.includes('list') || kind === 'Event' || kind === 'ComponentStatus') continue
    const { items } = await client.list(metadataOnly({ apiVersion, kind }), {
      signal: io.signal,
      ...(namespaced && namespace !== undefined && { namespace }),
    })
    for (const { metadata } of items)
      if (metadata.deletionTimestamp !== undefined) stuck.push({ apiVersion, kind, metadata })
  }
  const rows = await Promise.all(stuck.map(async (object) => ({ object, why: await whyOf(client, object, io.signal) })))
  if (json)
    io.stdout.write(
      `${JSON.stringify(rows.map(({ object: { apiVersion, kind, metadata }, why }) => ({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace, since: metadata.deletionTimestamp, finalizers: metadata.finalizers ?? [], why })))}\n`,
    )
  else if (rows.length === 0) io.stdout.write('No deletion is blocked.\n')
  else
    io.stdout.write(
      formatTable(
        ['Namespace', 'Object', 'Since', 'Waits for', 'Why'],
        rows.map(({ object: { kind, metadata }, why }) => [
          metadata.namespace ?? '',
          `${kind.toLowerCase()}/${metadata.name ?? ''}`,
          ago(String(metadata.deletionTimestamp), now),
          (metadata.finalizers ?? []).join(', '),
          why,
        ]),
      ),
    )
  return 0
}

async function whyOf(
  client: Client,
  { apiVersion, kind, metadata: { name = '', namespace } }: KubeObject,
  signal: AbortSignal,
): Promise<string> {
  const object = await client.find(
    { apiVersion, kind },
    { name, ...(namespace !== undefined && { namespace }) },
    { signal },
  )
  return (object && blockedBecause(object)) ?? ''
}

async function force(client: Client, call: Invocation): Promise<number> {
  const { values, io, json } = call
  const object = await readTarget(client, call)
  const { name = '', namespace = 'default', finalizers: on = [], deletionTimestamp } = object.metadata
  const only = values.text('finalizer')
  const taken = only === undefined ? on : on.filter((each) => each === only)
  if (taken.length === 0)
    throw new Failure(
      'usage',
      only === undefined
        ? `${object.kind.toLowerCase()}/${name} has no finalizers`
        : `${object.kind.toLowerCase()}/${name} has no finalizer ${only}; its finalizers are ${on.join(', ') || 'none'}`,
    )
  if (deletionTimestamp === undefined)
    throw new Failure('usage', `${object.kind.toLowerCase()}/${name} is not being deleted`, {
      hint: `evenkeel delete ${object.kind.toLowerCase()}/${name} first`,
    })
  const leaks = await leftoversOf(client, object, { finalizers: taken, signal: io.signal })
  if (!values.flag('yes')) {
    if (json) io.stdout.write(`${JSON.stringify({ wouldTake: taken, mayLeak: leaks })}\n`)
    else
      io.stdout.write(
        safeText(
          `Would remove ${taken.join(', ')} from ${object.kind.toLowerCase()}/${name} without cleanup.\nMay leak:\n${leaks.map((line) => `  - ${line}\n`).join('')}Repeat with --yes to remove.\n`,
        ),
      )
    return 1
  }
  for (const finalizer of taken) await client.removeFinalizer(object as never, finalizer, { signal: io.signal })
  await record(client, object, {
    message: `${taken.join(', ')} removed by force without cleanup; may leak: ${leaks.join('; ')}`,
    namespace,
    io,
  })
  io.stdout.write(
    json
      ? `${JSON.stringify({ taken, mayLeak: leaks })}\n`
      : safeText(
          `Removed ${taken.join(', ')} from ${object.kind.toLowerCase()}/${name}. May leak:\n${leaks.map((line) => `  - ${line}\n`).join('')}`,
        ),
  )
  return 0
}

async function record(
  client: Client,
  { apiVersion, kind, metadata: { name = '', namespace: own, uid } }: KubeObject,
  { message, namespace, io: { clock, signal } }: { message: string; namespace: string; io: Io },
): Promise<void> {
  const time = formatTime(clock.now())
  await client.create(
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { generateName: `${name.slice(0, 200)}.`, namespace },
      type: 'Warning',
      reason: 'FinalizerForced',
      message: message.slice(0, 1024),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: 'evenkeel-cli' },
      involvedObject: {
        apiVersion,
        kind,
        name,
        ...(own !== undefined && { namespace: own }),
        ...(uid !== undefined && { uid }),
      },
    } as KubeObject,
    { signal },
  )
}

interface LeftoverOptions {
  readonly finalizers: readonly string[]
  readonly signal: AbortSignal
}

/** What may leak without the cleanup; never empty, because each finalizer may stand for more. */
async function leftoversOf(
  client: Client,
  object: KubeObject,
  { finalizers: taken, signal }: LeftoverOptions,
): Promise<readonly string[]> {
  const { status } = object as { status?: JsonObject }
  const facts = isJsonObject(status) ? status : {}
  const external = isJsonObject(facts['external']) ? facts['external'] : {}
  const elsewhere = partsOf(facts['children']).filter(
    ({ namespace }) => (namespace ?? '') !== (object.metadata.namespace ?? ''),
  )
  const [children, dependencies] = await Promise.all([
    Promise.all(elsewhere.map((part) => findPart(client, part, signal))),
    Promise.all(partsOf(facts['dependencies']).map((part) => findPart(client, part, signal))),
  ])
  return [
    ...(external['id'] === undefined ? [] : [`the external resource with id ${String(external['id'])}`]),
    ...children.flatMap((child) => (child ? [`${refOf(child.object)}, which no owner reference reaches`] : [])),
    ...dependencies.flatMap((dependency) => (dependency ? tracesOn(dependency, object) : [])),
    ...taken.map((finalizer) => `resources that ${finalizer} protects`),
  ]
}

function partsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** An object that the status names. */
interface FoundPart {
  readonly object: KubeObject
  /** Whether its metadata was read; without permission only its name is known. */
  readonly isRead: boolean
}

/** Undefined when the object does not exist. */
async function findPart(
  client: Client,
  { apiVersion, group, kind, name, namespace }: JsonObject,
  signal: AbortSignal,
): Promise<FoundPart | undefined> {
  const resource = (await client.resources()).find(
    (each) => each.kind === kind && (each.apiVersion === apiVersion || each.group === (group ?? '')),
  )
  if (!resource || typeof name !== 'string') return undefined
  const type = { apiVersion: resource.apiVersion, kind: resource.kind }
  const place = typeof namespace === 'string' && namespace !== '' ? { namespace } : {}
  try {
    const found = await client.find(metadataOnly(type), { name, ...place }, { signal })
    return found && { object: { ...found, ...type }, isRead: true }
  } catch (error) {
    if (signal.aborted) throw error
    return { object: { ...type, metadata: { name, ...place } }, isRead: false }
  }
}

/** Annotations and finalizers that the object has left on its dependency. */
function tracesOn(
  { object: dependency, isRead }: FoundPart,
  { apiVersion, metadata: { uid = '' } }: KubeObject,
): readonly string[] {
  if (!isRead) return [`annotations on its dependency ${refOf(dependency)}, which cannot be read`]
  const { annotations = {}, finalizers: on = [] } = dependency.metadata
  // The value of such an annotation ends with the uid of the object that uses the dependency.
  const keys = Object.keys(annotations).filter((key) => uid !== '' && annotations[key]?.endsWith(` ${uid}`) === true)
  const held = on.filter((finalizer) => finalizer.startsWith(`${apiVersion.split('/')[0] ?? ''}/in-use-by-`))
  return [
    ...keys.map((key) => `the annotation ${key} on its dependency ${refOf(dependency)}`),
    ...held.map((finalizer) => `the finalizer ${finalizer} on its dependency ${refOf(dependency)}`),
  ]
}
