/**
 * The tool `down`: what `evenkeel down` does, for the application of one namespace.
 *
 * Invariants: nothing is deleted before the caller has named the namespace once more; only objects that `evenkeel run` has applied are
 * deleted; with a namespace limit an application that has objects elsewhere is left alone; a run is ended only if this server is
 * its own.
 */
import type { JsonObject } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import { Failure } from '../failure.ts'
import { loadOwnWorkloads } from '../modules.ts'
import { endRun, planRemoval, remove, type Removal } from '../run/removal.ts'
import type { Scope } from './scope.ts'
import { changes, field, type Tool, type ToolArguments } from './tool.ts'

export const down: Tool = {
  name: 'down',
  title: 'Stop an application',
  about:
    'Stops the application that evenkeel run has started and removes its objects, consumers before providers; waits until all is gone, and ends the run with its server. Show the person what dryRun lists before.',
  input: {
    namespace: { type: 'string', description: 'Of the application; without it that of the run in this folder' },
    confirm: {
      type: 'string',
      description: 'The name of the namespace once more: confirms that this is the right application',
    },
    keep: { type: 'boolean', description: 'Leave persistent processes and their objects', default: false },
    timeoutSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: 600,
      default: 30,
      description: 'After this time the run kills what is left',
    },
    dryRun: { type: 'boolean', description: 'Only list what would be removed', default: false },
  },
  required: ['confirm'],
  output: {
    namespace: field.text,
    removed: field.objects,
    kept: field.objects,
    left: field.objects,
    isComplete: field.flag,
    endedRun: field.number,
    dryRun: field.flag,
    next: field.text,
  },
  effect: changes({ isDestructive: true, isIdempotent: true }),
  async run(given, { scope, signal, progress }) {
    const workloads = await loadOwnWorkloads({ hint: 'npm install @evenkeel/workloads' })
    const { clock } = scope
    const active = await scope.activeRun(workloads)
    const namespace = await namespaceFor(given, { scope, recorded: active?.namespace })
    const client = await scope.client()
    const plan = await planRemoval(client, { namespace, keepsPersistent: given.flag('keep'), workloads, signal })
    refuseElsewhere(plan, scope)
    if (given.flag('dryRun')) return { ...summary(plan, []), dryRun: true, next: 'nothing was changed' }
    const removed: JsonObject[] = []
    const isComplete = await remove(client, plan, {
      ...{ workloads, clock, signal, timeoutMs: given.count('timeoutSeconds', 30) * 1000 },
      onGone: (object, tookMs) => {
        removed.push({ ...nameOf(object), tookMs })
        progress(`${object.kind} ${object.metadata.name ?? ''} is gone`)
      },
    })
    const run = active?.namespace === namespace ? active : undefined
    if (run) await endRun(run, { workloads, clock, signal, isLate: !isComplete })
    return {
      ...summary(plan, removed),
      isComplete: isComplete || run !== undefined,
      dryRun: false,
      ...(run && { endedRun: run.pid, next: 'the server of the application has ended: evenkeel run starts it again' }),
    }
  },
}

interface Choice {
  readonly scope: Scope
  /** That of the run in this folder. */
  readonly recorded: string | undefined
}

/** @throws {Failure} `refused` without the same name in `confirm`, `not-allowed` outside of the limit */
async function namespaceFor(given: ToolArguments, { scope, recorded }: Choice): Promise<string> {
  const asked = given.optional('namespace')
  const namespace = await scope.namespaceFor({ kind: 'ConfigMap', namespaced: true }, asked ?? scope.limit ?? recorded)
  if (namespace !== undefined && given.text('confirm') === namespace) return namespace
  throw new Failure('refused', `confirm is not the name of the namespace ${namespace}: nothing was removed`, {
    hint: `confirm ${namespace}`,
  })
}

/** @throws {Failure} `not-allowed`, when the limit of this server excludes a part of the application */
function refuseElsewhere({ nodes }: Removal, { limit }: Scope): void {
  const count = nodes.filter(({ object }) => limit !== undefined && object.metadata.namespace !== limit).length
  if (count > 0)
    throw new Failure(
      'not-allowed',
      `this server is limited to namespace ${limit}, and ${count} of the objects of the application are outside of it: nothing was removed`,
    )
}

function summary({ namespace, nodes, kept }: Removal, removed: readonly JsonObject[]): JsonObject {
  const isGone = (object: KubeObject): boolean =>
    removed.some(({ kind, name }) => kind === object.kind && name === object.metadata.name)
  return {
    namespace,
    removed: [...removed],
    kept: kept.map(({ kind, name }) => ({ kind, name })),
    left: nodes.flatMap(({ object }) => (isGone(object) ? [] : [nameOf(object)])),
  }
}

function nameOf({ kind, metadata: { name = '', namespace } }: KubeObject): JsonObject {
  return { kind, name, ...(namespace !== undefined && { namespace }) }
}
