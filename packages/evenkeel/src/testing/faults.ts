/**
 * Something that is wrong for a while: what is asked for meanwhile is refused, and then it is over.
 */
import { isJsonObject, parseApiVersion, type UnstructuredObject } from '#api'
import type { AdmissionHook } from '#server'
import type { Deviation, Interaction, ObjectReference, RequestDecision } from './deviation.ts'
import { admittedKey, asNew, poisonLabel } from './foreign-writes.ts'
import { bodyOf, type ErrorResponse, type RequestInfo } from './requests.ts'
import type { World } from './world.ts'

interface Fault {
  /** What ends it: the next rest, making everything well, or only itself. @default 'rest' */
  readonly endsAt?: 'rest' | 'healing' | 'itself'
  /** What becomes of an effect or a look; undefined when it is not concerned. */
  decide?(
    point: Pick<Interaction, 'about' | 'requestInfo' | 'call' | 'process' | 'request' | 'type'>,
  ): RequestDecision | undefined
  /** What the server says to any request of a process, watches too; undefined when it is not concerned. */
  respond?(requestInfo: RequestInfo): ErrorResponse | undefined
  end?(): void | Promise<void>
}

/** All troubles of a world at this moment. */
export class ActiveFaults {
  readonly #faults = new Set<Fault>()

  add(fault: Fault): void {
    this.#faults.add(fault)
  }

  decisionFor(point: Parameters<NonNullable<Fault['decide']>>[0]): RequestDecision | undefined {
    for (const fault of this.#faults) {
      const fate = fault.decide?.(point)
      if (fate) return fate
    }
    return undefined
  }

  get hasServerErrors(): boolean {
    for (const { respond: answer } of this.#faults) if (answer) return true
    return false
  }

  errorFor(requestInfo: RequestInfo): ErrorResponse | undefined {
    for (const fault of this.#faults) {
      const answer = fault.respond?.(requestInfo)
      if (answer) return answer
    }
    return undefined
  }

  /** Those that a rest ends, or all of them. @returns whether there was any */
  async end({ all = false } = {}): Promise<boolean> {
    const over = [...this.#faults].filter(
      ({ endsAt: lasts = 'rest' }) => lasts === 'rest' || (all && lasts === 'healing'),
    )
    for (const fault of over) {
      this.#faults.delete(fault)
      await fault.end?.()
    }
    return over.length > 0
  }
}

/*
 * Permissions that are missing, services and servers that are away, kinds that are not installed yet.
 */

/** How often somebody without a permission is refused. */
const refusalsMax = 4

/** A permission is missing for a while. */
export function forbiddenFault({ verb, resource }: { verb: string; resource: string }): Fault {
  let refusals = 0
  return {
    endsAt: 'healing',
    decide: ({ requestInfo }) =>
      requestInfo?.verb === verb && requestInfo.resource === resource && refusals++ < refusalsMax
        ? { type: 'refuse', status: 403, reason: 'Forbidden' }
        : undefined,
  }
}

/** How long somebody is away. */
const outageMs = 120_000
/** Who asks more often than this meanwhile does not wait in between. */
const attemptsMax = 200

/** A service outside is away, or the server: nobody answers what is asked meanwhile. */
export function outageFault(world: World, service: string | undefined): Fault {
  const [beganAtMs, name] = [world.clock.monotonic(), service ?? 'the server']
  let asks = 0
  const isAway = (): boolean => world.clock.monotonic() - beganAtMs < outageMs
  world.note('world', `${name} is away`)
  if (service === undefined)
    for (const life of world.processes) for (const stream of life.isDead ? [] : life.network.streams()) stream.cut()
  return {
    ...(service === undefined
      ? { respond: () => (isAway() ? (asks++, { status: 503, reason: 'ServiceUnavailable' }) : undefined) }
      : {
          decide: ({ call }) =>
            call?.service === service && isAway()
              ? (asks++, { type: 'refuse', status: 503, reason: 'ServiceUnavailable' })
              : undefined,
        }),
    end() {
      world.note('world', `${name} is back`)
      if (asks > attemptsMax)
        world.addFinding({
          rule: 'failure',
          severity: 'error',
          about: name,
          message: `${name} is away for ${outageMs / 1000} s and is asked ${asks} times meanwhile: nobody waits between two attempts`,
          hint: 'let the error reach the queue: it waits longer each time',
        })
    },
  }
}

/** A kind is not installed yet. */
export function missingKindFault(world: World, resource: string): Fault {
  world.note('world', `${resource} are not known to the server yet`)
  return {
    respond: (requestInfo) =>
      requestInfo.resource === resource
        ? { status: 404, reason: 'NotFound', message: 'the server could not find the requested resource' }
        : undefined,
    end() {
      world.note('world', `${resource} are known to the server now`)
    },
  }
}

/*
 * A namespace is being deleted: everything in it goes, and nothing new can be made there until nothing is left.
 */

export async function terminateNamespace(world: World, namespace: string): Promise<Fault> {
  const direct = world.directClient('somebody')
  await world.actAs('somebody', `deletes the namespace ${namespace}`, async () => {
    for (const object of [...world.history.objects.values()]) {
      if (object.metadata.namespace === namespace && object.metadata.deletionTimestamp === undefined)
        await direct.delete(object, { propagationPolicy: 'Background' })
    }
  })
  // Nothing new can be made until nothing of it is left: whoever cannot go without making something never goes.
  const isOver = (): boolean =>
    ![...world.history.objects.values()].some(
      ({ metadata, kind }) =>
        metadata.namespace === namespace && metadata.deletionTimestamp !== undefined && kind !== 'Event',
    )
  return {
    endsAt: 'itself',
    decide: (point) =>
      createsObject(point, world, namespace) && !isOver()
        ? {
            type: 'refuse',
            status: 403,
            reason: 'Forbidden',
            cause: 'NamespaceTerminating',
            message: `${point.about} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
          }
        : undefined,
  }
}

function createsObject(
  { requestInfo, request }: Pick<Interaction, 'requestInfo' | 'request'>,
  { history }: World,
  namespace: string,
): boolean {
  if (
    !requestInfo?.isWrite ||
    requestInfo.namespace !== namespace ||
    requestInfo.subresource !== '' ||
    requestInfo.verb === 'delete' ||
    requestInfo.verb === 'deletecollection'
  )
    return false
  if (requestInfo.verb === 'create') return true
  // Of all patches only an apply makes what is not there.
  return (
    request?.headers['content-type']?.startsWith('application/apply-patch') === true &&
    !history.objects.has(
      `/default/${requestInfo.group === '' ? 'core' : requestInfo.group}/${requestInfo.resource}/${namespace}/${requestInfo.name}`,
    )
  )
}

/*
 * Things that go without the program: something in a service outside, or an object that others depend on.
 */

/** Somebody takes something out of a service: the n-th thing of all that its fields hold. */
export async function removeExternalResource(
  world: World,
  { service, nth }: { service: string; nth: number },
): Promise<void> {
  const contents = (world.services as Readonly<Record<string, unknown>>)[service]
  let left = nth
  for (const value of typeof contents === 'object' && contents !== null ? Object.values(contents) : []) {
    const things = value instanceof Map || value instanceof Set ? ([...value.keys()] as unknown[]) : []
    const thing = things[left]
    left -= things.length
    if (left >= 0 || thing === undefined) continue
    await world.actAs('somebody', `takes ${String(thing)} out of ${service}`, () =>
      Promise.resolve((value as Map<unknown, unknown> | Set<unknown>).delete(thing)),
    )
    return
  }
}

/** What others depend on goes, and later they are deleted: they must be able to go as well. */
export async function deleteDependency(world: World, place: ObjectReference): Promise<void> {
  const direct = world.directClient('somebody')
  const needed = direct.find(place)
  if (!needed) return
  await world.actAs('somebody', `deletes ${place.kind} ${place.name}`, () => direct.delete(needed))
  await world.runUntilQuiet({ forgives: true })
  for (const object of world.facts.state.parents) {
    const {
      kind,
      metadata: { name = '', ownerReferences = [], deletionTimestamp },
    } = object
    if (ownerReferences.length === 0 && deletionTimestamp === undefined)
      await world.actAs('somebody', `deletes ${kind} ${name}`, () => direct.delete(object))
  }
}

/*
 * One object that cannot be served: whatever is made for it is refused, for good. The others must not notice.
 */

/** Part of the name of the one, and of everything that is made for it. */
export const poisonName = 'cannot-be-served'

export async function poisonFault(world: World, place: ObjectReference): Promise<Fault | undefined> {
  const direct = world.directClient('somebody')
  const object = direct.find(place)
  if (!object) return undefined
  const { metadata, ...rest } = asNew(object)
  const name = `${place.name}-${poisonName}`
  const made = {
    ...rest,
    metadata: { ...metadata, name, annotations: { ...metadata.annotations, [poisonLabel]: 'yes' } },
  } as UnstructuredObject
  await world.actAs('somebody', `creates ${place.kind} ${name}, for which everything is refused`, () =>
    direct.create(made, direct.collectionPathOf(object)),
  )
  return {
    endsAt: 'healing',
    decide: (point) =>
      isFor(point, { ...place, name, uid: direct.find({ ...place, name })?.metadata.uid ?? name })
        ? { type: 'refuse', status: 422, reason: 'Invalid' }
        : undefined,
    async end() {
      const now = direct.find({ ...place, name })
      if (now) await world.actAs('somebody', `deletes ${place.kind} ${name}`, () => direct.delete(now))
    },
  }
}

/** Whether something is made for the one; what is said about the object itself is taken. */
function isFor(
  { type, requestInfo, call, request, process: life }: Parameters<NonNullable<Fault['decide']>>[0],
  { apiVersion = '', namespace, name, uid }: ObjectReference & { uid: string },
): boolean {
  if (type !== 'effect') return false
  if (call) return JSON.stringify(call.parameters).includes(name) || JSON.stringify(call.parameters).includes(uid)
  // A child may have the name of its parent; what it cannot have as well is its place.
  if (
    !requestInfo ||
    (requestInfo.name === name &&
      requestInfo.namespace === namespace &&
      requestInfo.group === parseApiVersion(apiVersion).group)
  )
    return false
  const [, id = ''] = /reconcile\/(\S+)/.exec(request?.headers['user-agent'] ?? '') ?? []
  return (
    requestInfo.name.includes(poisonName) ||
    ownersIn(request).includes(uid) ||
    (life.manager?.ledger.find(id)?.key ?? '').includes(poisonName)
  )
}

function ownersIn(request: Interaction['request']): string {
  const body = request && bodyOf(request)
  return isJsonObject(body) && isJsonObject(body['metadata'])
    ? JSON.stringify([body['metadata']['name'], body['metadata']['generateName'], body['metadata']['ownerReferences']])
    : ''
}

/*
 * A webhook of somebody else that adds something of its own to every object of a kind, whoever writes it.
 *
 * What comes back is then not what was sent. Whoever compares the two whole finds a difference that no write takes away.
 */

export function mutatingHooks(deviations: readonly Deviation[]): readonly AdmissionHook[] {
  return deviations.flatMap(({ deed }) => (deed.type === 'mutate' ? [mutatingHook(deed.resource)] : []))
}

function mutatingHook(resource: string): AdmissionHook {
  return {
    name: `marks ${resource}`,
    rules: [{ resources: [resource] }],
    mutate: ({ metadata, ...rest }) => ({
      ...rest,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, [admittedKey]: 'yes' },
        annotations: { ...metadata.annotations, [admittedKey]: 'yes' },
      },
    }),
  }
}
