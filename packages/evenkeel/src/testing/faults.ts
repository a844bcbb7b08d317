/**
 * Faults that last for a while: missing permissions, outages, kinds that are not installed, namespaces in deletion, an
 * object that always fails, a mutating webhook; and changes that last: a removed external resource, a deleted dependency.
 *
 * A fault decides about requests while it is active. It ends when the world is quiet, when all faults end, or by itself.
 */
import { isJsonObject, parseApiVersion, type JsonObject, type UnstructuredObject, stringifyJson } from '#api'
import type { AdmissionHook } from '#server'
import type { Deviation, Interaction, ObjectReference, RequestDecision } from './deviation.ts'
import { admittedKey, applyForeignAction, asNew, otherClient, poisonLabel } from './foreign-writes.ts'
import { bodyOf, type ErrorResponse, type RequestInfo } from './requests.ts'
import { describeObject, isRelevant } from './snapshot.ts'
import type { World } from './world.ts'

interface Fault {
  /** What ends the fault: the next quiet state, the end of all faults, or the fault itself. @default 'quiet' */
  readonly endsAt?: 'quiet' | 'healing' | 'itself'
  /** Decides about an effect or a read; undefined: the fault does not apply. */
  decide?(
    interaction: Pick<Interaction, 'about' | 'requestInfo' | 'call' | 'process' | 'request' | 'type'>,
  ): RequestDecision | undefined
  /** The error response to any request of a process, watches included; undefined: the fault does not apply. */
  respond?(requestInfo: RequestInfo): ErrorResponse | undefined
  end?(): void | Promise<void>
}

/** The active faults of a world. */
export class ActiveFaults {
  readonly #faults = new Set<Fault>()

  add(fault: Fault): void {
    this.#faults.add(fault)
  }

  decisionFor(interaction: Parameters<NonNullable<Fault['decide']>>[0]): RequestDecision | undefined {
    for (const fault of this.#faults) {
      const decision = fault.decide?.(interaction)
      if (decision) return decision
    }
    return undefined
  }

  get hasServerErrors(): boolean {
    for (const { respond } of this.#faults) if (respond) return true
    return false
  }

  errorFor(requestInfo: RequestInfo): ErrorResponse | undefined {
    for (const fault of this.#faults) {
      const answer = fault.respond?.(requestInfo)
      if (answer) return answer
    }
    return undefined
  }

  /** Ends the faults that a quiet state ends, or all of them. @returns whether there were any */
  async end({ all = false } = {}): Promise<boolean> {
    const over = [...this.#faults].filter(({ endsAt = 'quiet' }) => endsAt === 'quiet' || (all && endsAt === 'healing'))
    for (const fault of over) {
      this.#faults.delete(fault)
      await fault.end?.()
    }
    return over.length > 0
  }
}

/** How many requests a missing permission refuses. */
const refusalsMax = 4

/** A permission is missing. */
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

/** How long an outage lasts. */
const outageMs = 120_000
/** A client with more attempts than this during an outage has no back-off. */
const attemptsMax = 200

/** An external service, or the API server, is unavailable. */
export function outageFault(world: World, service: string | undefined): Fault {
  const [beganAtMs, name] = [world.clock.monotonic(), service ?? 'the API server']
  let attempts = 0
  const isActive = (): boolean => world.clock.monotonic() - beganAtMs < outageMs
  world.note('world', `${name} is unavailable`)
  if (service === undefined)
    for (const proc of world.processes) for (const stream of proc.isDead ? [] : proc.network.streams()) stream.cut()
  return {
    ...(service === undefined
      ? { respond: () => (isActive() ? (attempts++, { status: 503, reason: 'ServiceUnavailable' }) : undefined) }
      : {
          decide: ({ call }) =>
            call?.service === service && isActive()
              ? (attempts++, { type: 'refuse', status: 503, reason: 'ServiceUnavailable' })
              : undefined,
        }),
    end() {
      world.note('world', `${name} is available again`)
      if (attempts > attemptsMax)
        world.addFinding({
          rule: 'failure',
          severity: 'error',
          about: name,
          message: `${attempts} requests to ${name} during an outage of ${outageMs / 1000} s: there is no back-off between attempts`,
          hint: 'throw the error out of the reconcile: the queue backs off',
        })
    },
  }
}

/** A kind is not installed yet: requests for it fail with 404. */
export function missingKindFault(world: World, resource: string): Fault {
  world.note('world', `${resource} are not installed yet`)
  return {
    respond: (requestInfo) =>
      requestInfo.resource === resource
        ? { status: 404, reason: 'NotFound', message: 'the server could not find the requested resource' }
        : undefined,
    end() {
      world.note('world', `${resource} are installed now`)
    },
  }
}

/** Deletes the objects of a namespace; creates in it fail until none of them is left. */
export async function terminateNamespace(world: World, namespace: string): Promise<Fault> {
  const direct = world.directClient(otherClient)
  await world.actAs(otherClient, `deletes the namespace ${namespace}`, async () => {
    for (const object of [...world.history.objects.values()]) {
      if (object.metadata.namespace === namespace && object.metadata.deletionTimestamp === undefined)
        await direct.delete(object, { propagationPolicy: 'Background' })
    }
  })
  // A cleanup that has to create an object in this namespace never ends.
  const isOver = (): boolean =>
    ![...world.history.objects.values()].some(
      ({ metadata, kind }) =>
        metadata.namespace === namespace && metadata.deletionTimestamp !== undefined && kind !== 'Event',
    )
  return {
    endsAt: 'itself',
    decide: (interaction) =>
      createsObject(interaction, world, namespace) && !isOver()
        ? {
            type: 'refuse',
            status: 403,
            reason: 'Forbidden',
            cause: 'NamespaceTerminating',
            message: `${interaction.about} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
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
  // Of all patches only an apply creates an object.
  return (
    request?.headers['content-type']?.startsWith('application/apply-patch') === true &&
    !history.objects.has(
      `/default/${requestInfo.group === '' ? 'core' : requestInfo.group}/${requestInfo.resource}/${namespace}/${requestInfo.name}`,
    )
  )
}

/** Removes the n-th resource of all that the fields of an external service hold. */
export async function removeExternalResource(
  world: World,
  { service, nth }: { service: string; nth: number },
): Promise<void> {
  const contents = (world.services as Readonly<Record<string, unknown>>)[service]
  let left = nth
  for (const value of typeof contents === 'object' && contents !== null ? Object.values(contents) : []) {
    const keys = value instanceof Map || value instanceof Set ? ([...value.keys()] as unknown[]) : []
    const key = keys[left]
    left -= keys.length
    if (left >= 0 || key === undefined) continue
    await world.actAs(otherClient, `removes ${String(key)} from ${service}`, () =>
      Promise.resolve((value as Map<unknown, unknown> | Set<unknown>).delete(key)),
    )
    return
  }
}

/** Deletes a dependency, and later its dependents: their deletion must succeed without it. */
export async function deleteDependency(world: World, reference: ObjectReference): Promise<void> {
  const direct = world.directClient(otherClient)
  const needed = direct.find(reference)
  if (!needed) return
  await world.actAs(otherClient, `deletes ${reference.kind} ${reference.name}`, () => direct.delete(needed))
  await world.runUntilQuiet({ ignoresNonConvergence: true })
  for (const object of world.facts.state.parents) {
    const {
      kind,
      metadata: { name = '', ownerReferences = [], deletionTimestamp },
    } = object
    if (ownerReferences.length === 0 && deletionTimestamp === undefined)
      await world.actAs(otherClient, `deletes ${kind} ${name}`, () => direct.delete(object))
  }
}

/** Changes an object that the program reads, and reverts it when the world is quiet. The change must be noticed. */
export async function alterDependency(world: World, reference: ObjectReference): Promise<void> {
  const direct = world.directClient(otherClient)
  const before = direct.find(reference)
  if (!before) return
  const what = `${reference.kind} ${reference.name}`
  await world.actAs(otherClient, `changes ${what}`, () =>
    applyForeignAction({ type: 'drift', object: reference }, direct),
  )
  if (direct.find(reference)?.metadata.resourceVersion === before.metadata.resourceVersion) return
  await observeChange(world, { reference, before })
  if (await world.runUntilQuiet({ ignoresNonConvergence: true })) await judgeUnnoticed(world, what)
  const now = direct.find(reference)
  if (now) await world.actAs(otherClient, `reverts ${what}`, () => direct.update({ ...before, metadata: now.metadata }))
  await observeChange(world, { reference, before })
}

/** Plays the controller of a foreign object, which is not in the world: it has seen the change, and nothing else changed. */
async function observeChange(
  world: World,
  { reference, before }: { reference: ObjectReference; before: UnstructuredObject },
): Promise<void> {
  const direct = world.directClient(otherClient)
  const now = direct.find(reference)
  if (!now || !isJsonObject(now['status']) || world.facts.state.isReconciled(now)) return
  const { metadata, status } = now
  const wasObserved =
    isJsonObject(before['status']) && before['status']['observedGeneration'] === before.metadata.generation
  if (!wasObserved || metadata.generation === status['observedGeneration']) return
  const observed = { ...now, status: { ...status, observedGeneration: metadata.generation } }
  await world.actAs(otherClient, `observes ${reference.kind} ${reference.name}`, () =>
    direct.update(observed as UnstructuredObject, 'status'),
  )
}

/** Everything is reconciled once more: what changes now was not noticed before. A program that polls notices it later. */
async function judgeUnnoticed(world: World, what: string): Promise<void> {
  const manager = world.processes.findLast(({ isDead }) => !isDead)?.manager
  if (!manager || world.farTimers.requeues(world).length > 0) return
  const { length } = world.history.events
  for (const controller of manager.controllers) controller.reconcileAll({ note: 'again' })
  if (!(await world.runUntilQuiet({ ignoresNonConvergence: true }))) return
  const late = world.history.events
    .slice(length)
    .find(({ actor, after }) => world.facts.isProcess(actor) && after !== undefined && isRelevant(after))
  if (late?.after)
    world.addFinding({
      rule: 'state',
      severity: 'error',
      about: what,
      message: `an extra reconcile changes ${describeObject(late.after)}: a change of ${what}, which the program reads, triggered no reconcile`,
      hint: 'watch everything that a reconcile reads, and map its events to the right keys',
    })
}

/** A spec that the schema allows, and under which the server refuses what the program writes, every time. */
export function judgeFailingWish(world: World, { kind, spec }: { kind: string; spec: JsonObject }): void {
  const { error } = (world.logs.findLast(({ record }) => record.message === 'reconcile failed')?.record.fields ??
    {}) as {
    readonly error?: { readonly reason?: unknown; readonly message?: string }
  }
  if (error?.reason !== 'Invalid' && error?.reason !== 'BadRequest') return
  world.addFinding({
    rule: 'failure',
    severity: 'error',
    about: `spec.${Object.keys(spec).join()} of ${kind}`,
    message: `reconciles keep failing with ${stringifyJson(spec)} in the spec, which the schema allows: ${error.message ?? ''}`,
    hint: 'restrict in the schema what you do not support, or report it in the status and stop',
  })
}

/** Part of the name of the object that always fails, and of everything that is created for it. */
export const poisonName = 'always-fails'

/** Creates an object for which every effect fails, until all faults end. Other objects must not be affected. */
export async function poisonFault(world: World, reference: ObjectReference): Promise<Fault | undefined> {
  const direct = world.directClient(otherClient)
  const object = direct.find(reference)
  if (!object) return undefined
  const { metadata, ...rest } = asNew(object)
  const resource = world.facts.state.pluralOf(object) ?? ''
  const name = `${reference.name}-${poisonName}`
  const made = {
    ...rest,
    metadata: { ...metadata, name, annotations: { ...metadata.annotations, [poisonLabel]: 'yes' } },
  } as UnstructuredObject
  await world.actAs(otherClient, `creates ${reference.kind} ${name}, for which every effect fails`, () =>
    direct.create(made, direct.collectionPathOf(object)),
  )
  return {
    endsAt: 'healing',
    decide: (interaction) =>
      isFor(interaction, {
        ...reference,
        name,
        resource,
        uid: direct.find({ ...reference, name })?.metadata.uid ?? name,
      })
        ? { type: 'refuse', status: 422, reason: 'Invalid' }
        : undefined,
    async end() {
      const now = direct.find({ ...reference, name })
      if (now) await world.actAs(otherClient, `deletes ${reference.kind} ${name}`, () => direct.delete(now))
    },
  }
}

/** Whether an effect is for the object that always fails; writes of the object itself succeed. */
function isFor(
  { type, requestInfo, call, request, process: proc }: Parameters<NonNullable<Fault['decide']>>[0],
  { apiVersion = '', namespace, name, resource, uid }: ObjectReference & { resource: string; uid: string },
): boolean {
  if (type !== 'effect') return false
  if (call) return stringifyJson(call.parameters).includes(name) || stringifyJson(call.parameters).includes(uid)
  // A child may have the name and the group of its parent.
  if (
    !requestInfo ||
    (requestInfo.name === name &&
      requestInfo.namespace === namespace &&
      requestInfo.resource === resource &&
      requestInfo.group === parseApiVersion(apiVersion).group)
  )
    return false
  const [, id = ''] = /reconcile\/(\S+)/.exec(request?.headers['user-agent'] ?? '') ?? []
  return (
    requestInfo.name.includes(poisonName) ||
    ownersIn(request).includes(uid) ||
    (proc.manager?.ledger.find(id)?.key ?? '').includes(poisonName)
  )
}

function ownersIn(request: Interaction['request']): string {
  const body = request && bodyOf(request)
  return isJsonObject(body) && isJsonObject(body['metadata'])
    ? JSON.stringify([body['metadata']['name'], body['metadata']['generateName'], body['metadata']['ownerReferences']])
    : ''
}

/**
 * A mutating webhook that adds a label and an annotation to every object of a resource.
 *
 * The stored object then differs from the one that was sent. A controller that compares them completely finds a
 * difference that no write removes.
 */
export function mutatingHooks(deviations: readonly Deviation[]): readonly AdmissionHook[] {
  return deviations.flatMap(({ action }) => (action.type === 'mutate' ? [mutatingHook(action.resource)] : []))
}

function mutatingHook(resource: string): AdmissionHook {
  return {
    name: `labels ${resource}`,
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
