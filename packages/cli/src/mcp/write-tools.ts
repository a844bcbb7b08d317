/**
 * Tools that change objects: apply, delete, scale, restart, stop, start, exec, down. They exist only with `--allow-writes`.
 */
import { formatTime, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import { Failure } from '../failure.ts'
import { parseManifests } from '../manifests.ts'
import { changesByApply } from '../terminal.ts'
import { findAction, perform } from './action-tools.ts'
import { down } from './down-tool.ts'
import { exec } from './exec-tool.ts'
import { hasMask, isSecret, maskChange } from './secret-mask.ts'
import type { ObjectTarget } from './scope.ts'
import { argument, changes, field, type Tool, type ToolArguments, type ToolCall } from './tool.ts'
import { targetOf } from './why-tools.ts'

const fieldManager = 'evenkeel-mcp'

const apply: Tool = {
  name: 'apply',
  title: 'Apply a manifest',
  about:
    'Creates or changes objects by server-side apply. By default nothing is changed: the result says what would change. Show that to the person, then call again with dryRun false.',
  input: {
    manifest: { type: 'string', description: 'Objects as YAML or JSON; several YAML documents are separated by ---' },
    dryRun: { type: 'boolean', description: 'Report what would change, and change nothing', default: true },
    force: { type: 'boolean', description: 'Take over fields of other field managers', default: false },
  },
  required: ['manifest'],
  output: { objects: field.objects, dryRun: field.flag, next: field.text },
  effect: changes({ isDestructive: true, isIdempotent: true }),
  narrow: 'apply fewer objects at a time',
  async run(given, call) {
    const objects = await parseManifests(given.text('manifest'), 'manifest')
    if (objects.length === 0) throw new Failure('usage', 'manifest has no objects')
    const dryRun = given.flag('dryRun', true)
    // All are checked first, so that a mistake in the last one does not leave half of them applied.
    const targets = await Promise.all(objects.map((object) => checkedTarget(object, call)))
    const outcomes: JsonObject[] = []
    for (const [index, object] of objects.entries())
      outcomes.push(
        await applyOne(object, { target: targets[index] as ObjectTarget, dryRun, force: given.flag('force'), call }),
      )
    return {
      objects: outcomes,
      dryRun,
      ...(dryRun && { next: 'nothing was changed: call again with dryRun false to apply this' }),
    }
  },
}

/** @throws {Failure} `usage`, `unknown-kind`, `not-allowed` */
async function checkedTarget(object: KubeObject, { scope }: ToolCall): Promise<ObjectTarget> {
  const { kind } = object
  const { name, namespace } = object.metadata
  if (name === undefined) throw new Failure('usage', `${kind} has no metadata.name`)
  const { data, stringData } = object as { data?: JsonValue; stringData?: JsonValue }
  if (isSecret(object) && (hasMask(data) || hasMask(stringData)))
    throw new Failure('usage', `secret/${name} has values that were masked: to write them would destroy the secret`, {
      hint: 'leave out the keys that stay as they are',
    })
  const resource = await scope.kindOf(object)
  return { resource, name, namespace: await scope.namespaceFor(resource, namespace) }
}

interface ApplyCall {
  readonly target: ObjectTarget
  readonly dryRun: boolean
  readonly force: boolean
  readonly call: ToolCall
}

async function applyOne(object: KubeObject, { target, dryRun, force, call }: ApplyCall): Promise<JsonObject> {
  const { scope, signal } = call
  const { name, namespace } = target
  const client = await scope.client()
  const place = namespace === undefined ? {} : { namespace }
  const before = await client.find(object, { name, ...place }, { signal })
  const placed = { ...object, metadata: { ...object.metadata, ...place } }
  const after = await client.apply(placed, { force, fieldManager, signal, ...(dryRun && { dryRun }) })
  const changed = before === undefined ? [] : changesByApply(object, before as KubeObject, after as KubeObject)
  return {
    kind: object.kind,
    name,
    ...place,
    outcome: before === undefined ? 'created' : changed.length === 0 ? 'unchanged' : 'configured',
    ...(before === undefined && { object: scope.shown(after as KubeObject) }),
    ...(changed.length > 0 && {
      changes: isSecret(object) && !scope.showsSecrets ? changed.map((each) => maskChange(each)) : [...changed],
    }),
  }
}

const remove: Tool = {
  name: 'delete',
  title: 'Delete an object',
  about: 'Deletes one object, and first what it owns. The result names the finalizers that still hold it.',
  input: {
    ...argument,
    confirm: {
      type: 'string',
      description: 'The uid of the object, or its name once more: confirms that this is the right object',
    },
    dryRun: { type: 'boolean', description: 'Only check', default: false },
  },
  required: ['kind', 'name', 'confirm'],
  output: { deleted: field.object, waitingFor: field.texts, dryRun: field.flag },
  effect: changes({ isDestructive: true, isIdempotent: true }),
  async run(given, call) {
    const { scope, signal } = call
    const target = await targetOf(given, call)
    const object = await scope.read(target, signal)
    const { uid = '', name = '', namespace } = object.metadata
    if (![uid, name].includes(given.text('confirm')))
      throw new Failure(
        'refused',
        `confirm is neither the uid nor the name of ${target.resource.singular}/${name}: nothing was deleted`,
        {
          hint: `confirm ${name}`,
        },
      )
    const dryRun = given.flag('dryRun')
    const left = await (
      await scope.client()
    ).delete(object, {
      preconditions: { uid },
      propagationPolicy: 'Foreground',
      signal,
      ...(dryRun && { dryRun }),
    })
    const { finalizers = [] } = (left as KubeObject | undefined)?.metadata ?? {}
    return {
      deleted: { kind: object.kind, name, uid, ...(namespace !== undefined && { namespace }) },
      waitingFor: [...finalizers],
      dryRun,
    }
  },
}

const scale: Tool = {
  name: 'scale',
  title: 'Scale an object',
  about: 'Sets the number of replicas of an object whose kind has the subresource scale.',
  input: { ...argument, replicas: { type: 'integer', minimum: 0, maximum: 100_000, description: 'How many' } },
  required: ['kind', 'name', 'replicas'],
  output: { replicas: field.number, before: field.number },
  effect: changes({ isDestructive: true, isIdempotent: true }),
  async run(given, call) {
    const { scope, signal } = call
    const target = await targetOf(given, call)
    const { resource, name } = target
    if (!resource.subresources.includes('scale'))
      throw new Failure('usage', `${resource.singular}/${name} cannot be scaled: its kind has no subresource scale`, {
        hint: 'the tool explain, to find a field for it',
      })
    const object = await scope.read(target, signal)
    const client = await scope.client()
    const { spec: old } = await client.getScale(object, { signal })
    const { spec } = await client.setScale(object, given.count('replicas', 0), { fieldManager, signal })
    return { replicas: spec.replicas ?? 0, before: old.replicas ?? 0 }
  },
}

/** Kinds of Kubernetes that are restarted by a change of their template. */
const restartedByTemplate: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet'])

/** A tool for an action that many kinds have by the same name. */
function commonAction(name: 'restart' | 'stop' | 'start', about: string): Tool {
  return {
    name,
    title: `${name.charAt(0).toUpperCase()}${name.slice(1)} an object`,
    about,
    input: {
      ...argument,
      confirm: { type: 'boolean', description: 'True when a person agreed, if the action asks for it', default: false },
    },
    required: ['kind', 'name'],
    output: { action: field.text, changed: field.flag },
    effect: changes({ isDestructive: name !== 'start', isIdempotent: name !== 'restart' }),
    async run(given: ToolArguments, call: ToolCall) {
      const target = await targetOf(given, call)
      const definition = await findAction(target, name, call)
      if (definition) return perform(target, { definition, given, call })
      const { group, kind, singular } = target.resource
      if (name === 'restart' && group === 'apps' && restartedByTemplate.has(kind)) return restartPods(target, call)
      throw new Failure('usage', `${singular} has no action ${name}`, { hint: 'the tool actions lists those it has' })
    },
  }
}

/** As `kubectl rollout restart` does. */
async function restartPods(target: ObjectTarget, { scope, signal }: ToolCall): Promise<JsonObject> {
  const object = await scope.read(target, signal)
  const annotations = { 'kubectl.kubernetes.io/restartedAt': formatTime(scope.clock.now()) }
  const patch = { spec: { template: { metadata: { annotations } } } }
  await (await scope.client()).patch(object, patch, { fieldManager, signal })
  return { action: 'restart', changed: true }
}

export const writeTools: readonly Tool[] = [
  apply,
  remove,
  scale,
  commonAction(
    'restart',
    'Restarts an object: a process, a container, or the pods of a Deployment, StatefulSet or DaemonSet.',
  ),
  commonAction('stop', 'Stops an object that has the action stop; the object stays.'),
  commonAction('start', 'Starts an object that has the action start.'),
  exec,
  down,
]
