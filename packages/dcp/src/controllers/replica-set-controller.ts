/**
 * The controller of ExecutableReplicaSets: as many Executables as the spec says, made from its template.
 *
 *   too few  ──▶ new ones with the lowest numbers that are free, NAME-1, NAME-2 …, and names that follow from the number
 *   too many ──▶ the newest are deleted; with stopOnScaleDown they are stopped, marked inactive, and stay
 *
 * What has ended counts as a replica: it is not replaced. A changed template is for new replicas.
 *
 * Invariant: the set is gone only when all its Executables are, the inactive ones too.
 */
import { createHash } from 'node:crypto'
import {
  getControllerOf,
  isAlreadyExists,
  setControllerReference,
  type ControllerDeclaration,
  type ObjectOf,
  type ReconcileResult,
  type Stored,
} from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { formatMicroTime } from 'evenkeel/unstable/api'
import { Executable, ExecutableReplicaSet } from '../kinds/executable.ts'
import { group } from '../kinds/group.ts'

type SetObject = Stored<ObjectOf<typeof ExecutableReplicaSet>>
type ExecutableObject = Stored<ObjectOf<typeof Executable>>
type Context = Parameters<
  NonNullable<ControllerDeclaration<typeof ExecutableReplicaSet, ManagedContext>['reconcile']>
>[1]

const prefix = `executable-replica-set.${group}`
const annotations = {
  state: `${prefix}/replica-state`,
  displayName: `${prefix}/display-name`,
  id: `${prefix}/replica-id`,
  set: `${prefix}/replica-set-name`,
  /** Hosts name the instance of a telemetry service by it. */
  instance: 'otel-service-instance-id',
} as const

export class ReplicaSetController {
  declaration(): ControllerDeclaration<typeof ExecutableReplicaSet, ManagedContext> {
    return {
      for: ExecutableReplicaSet,
      owns: [Executable],
      reconcile: (set, context) => this.#reconcile(set, context),
      cleanup: (set, context) => this.#cleanup(set, context),
    }
  }

  async #reconcile(set: SetObject, context: Context): Promise<undefined> {
    const all = await replicasOf(set, context)
    const active = all.filter(isActive)
    const wanted = set.spec?.replicas ?? 1
    const used = new Set(all.map(numberOf))
    for (let number = 1, missing = wanted - active.length; missing > 0; number++) {
      if (used.has(number)) continue
      await create(set, number, context)
      missing--
    }
    for (const replica of active.slice(wanted)) await remove(replica, { set, context })
    const hasScaled = active.length !== wanted
    report(set, active, { status: context.status, ...(hasScaled && { scaledAtMs: context.clock.now() }) })
  }

  async #cleanup(set: SetObject, context: Context): Promise<ReconcileResult | undefined> {
    const left = await replicasOf(set, context, { isEnding: true })
    for (const replica of left)
      if (replica.metadata.deletionTimestamp === undefined)
        await context.client.delete(replica, {
          preconditions: { uid: replica.metadata.uid },
          ignoreNotFound: true,
          signal: context.signal,
        })
    if (left.length > 0) return { park: 'waits for the end of its Executables' }
    return undefined
  }
}

/** Oldest first. */
async function replicasOf(
  { metadata: { uid } }: SetObject,
  { client }: Context,
  { isEnding = false }: { readonly isEnding?: boolean } = {},
): Promise<readonly ExecutableObject[]> {
  const { items } = await client.list(Executable)
  return (items as readonly ExecutableObject[])
    .filter(
      (replica) =>
        getControllerOf(replica)?.uid === uid && (isEnding || replica.metadata.deletionTimestamp === undefined),
    )
    .sort((a, b) => numberOf(a) - numberOf(b))
}

function isActive({ metadata }: ExecutableObject): boolean {
  return metadata.annotations?.[annotations.state] === 'active'
}

function numberOf({ metadata }: ExecutableObject): number {
  return Number(/-(\d+)$/.exec(metadata.annotations?.[annotations.displayName] ?? '')?.[1] ?? 0)
}

async function create(set: SetObject, number: number, { client, signal }: Context): Promise<void> {
  const { name } = set.metadata
  const { spec, labels, annotations: given } = set.spec?.template ?? {}
  const id = createHash('sha256').update(`${name}/${number}`).digest('hex').slice(0, 8)
  const replica = {
    apiVersion: Executable.apiVersion,
    kind: Executable.kind,
    metadata: {
      name: `${name}-${id}`,
      labels: { ...labels },
      annotations: {
        ...given,
        [annotations.state]: 'active',
        [annotations.displayName]: `${name}-${number}`,
        [annotations.id]: id,
        [annotations.instance]: id,
        [annotations.set]: name,
      },
    },
    spec: { ...spec },
  }
  await client.create(setControllerReference(set, replica), { signal }).catch((error: unknown) => {
    // Its answer was lost, or one of the same number is still ending.
    if (!isAlreadyExists(error)) throw error
  })
}

async function remove(
  replica: ExecutableObject,
  { set, context: { client, signal } }: { readonly set: SetObject; readonly context: Context },
): Promise<void> {
  if (set.spec?.stopOnScaleDown === true)
    await client.patch(
      replica,
      { metadata: { annotations: { [annotations.state]: 'inactive' } }, spec: { stop: true } } as never,
      { signal },
    )
  else
    await client.delete(replica, {
      preconditions: { uid: replica.metadata.uid },
      propagationPolicy: 'Background',
      ignoreNotFound: true,
      signal,
    })
}

function report(
  { spec, status: before }: SetObject,
  active: readonly ExecutableObject[],
  { status, scaledAtMs }: { readonly status: Context['status']; readonly scaledAtMs?: number },
): void {
  const count = (...states: readonly string[]): number =>
    active.filter((replica) => states.includes(replica.status?.state ?? '')).length
  const healthy = active.filter((replica) => replica.status?.healthStatus === 'Healthy').length
  status.set({
    observedReplicas: active.length,
    runningReplicas: count('Running'),
    failedReplicas: count('FailedToStart'),
    finishedReplicas: count('Finished', 'Terminated'),
    healthStatus: healthy >= (spec?.replicas ?? 1) ? 'Healthy' : healthy > 0 ? 'Caution' : 'Unhealthy',
    ...(scaledAtMs === undefined
      ? before?.lastScaleTime && { lastScaleTime: before.lastScaleTime }
      : { lastScaleTime: formatMicroTime(scaledAtMs) }),
  })
}
