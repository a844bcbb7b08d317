/**
 * `evenkeel wait`: waits until objects meet a condition, by watching them.
 *
 * The time begins with the command and covers the watch; the first look at the objects always happens.
 */
import type { KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { deferred } from 'evenkeel/unstable/base'
import { namespaceOptions, selectorOptions, type Command, type Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { isCalled, lookUp, namespaceOf, oneNamespaceOf, type ResourceTarget } from '../lookup.ts'
import { notFound } from '../not-found.ts'
import { watchObjects, type ObjectChange } from '../object-watch.ts'
import { durationOf } from '../parse.ts'
import { findWorkloads, workloadNamespace } from '../run/workload-lookup.ts'
import { workloadResources } from '../run/workload-row.ts'
import { duration, safeLine } from '../terminal.ts'
import { waitGoalOf, type WaitGoal } from '../wait-goal.ts'

export const wait: Command = {
  name: 'wait',
  about: 'wait until objects meet a condition',
  usage: 'KIND/NAME ... | KIND NAME ... | KIND -l LABELS | KIND --all | WORKLOAD ...',
  words: { least: 1, most: Infinity },
  completes: 'kinds',
  options: {
    for: {
      type: 'string',
      value: 'GOAL',
      about: 'Ready, condition=NAME[=VALUE], jsonpath=PATH[=VALUE], create or delete',
    },
    timeout: { type: 'string', value: 'TIME', about: 'how long: 30s, 5m; 0 looks once (default: 30s)' },
    all: { type: 'boolean', about: 'all objects of the kind' },
    ...namespaceOptions,
    ...selectorOptions,
  },
  details:
    'Exit code 1: the time is over, or an object does not exist. -l, --field-selector and --all wait for the objects that exist when the command starts.',
  examples: [
    'evenkeel wait app/web --for condition=Ready',
    "evenkeel wait pod/web-0 --for jsonpath='{.status.phase}'=Running --timeout 2m",
    'evenkeel wait apps -l tier=web --for delete',
    'evenkeel wait web worker db --for=Ready',
  ],
  async run(call) {
    const goal = waitGoalOf(call.values.text('for'))
    const timeoutMs = timeoutOf(call.values.text('timeout') ?? '30s')
    const startedMs = call.io.clock.monotonic()
    const client = await call.connect()
    const groups = await groupsOf(client, goal, call)
    const leftMs = Math.max(0, timeoutMs - (call.io.clock.monotonic() - startedMs))
    const unmet = await waitForAll(groups, { client, goal, call, leftMs })
    if (unmet.length === 0) return 0
    const waited = timeoutMs === 0 ? '' : ` (waited ${duration(timeoutMs)})`
    throw new Failure('timeout', `${sentence(unmet)}${waited}`, {
      hint: `evenkeel why ${unmet[0]?.ref ?? ''}`,
    })
  },
}

/** As in kubectl: 0 looks once, a negative time is a week. */
const longestMs = 7 * 24 * 3_600_000

function timeoutOf(text: string): number {
  if (/^0(?:ms|s|m|h)?$/.test(text)) return 0
  return text.startsWith('-') ? longestMs : durationOf('timeout', text)
}

/** Every one that is missing, and why. */
function sentence(unmet: readonly Unmet[]): string {
  return safeLine(unmet.map(({ ref, state }) => `${ref}: ${state}`).join('; '))
}

/** Objects of one kind that one watch covers. */
interface AwaitedGroup {
  readonly resource: DiscoveredResource
  readonly namespace: string | undefined
  readonly objects: readonly AwaitedObject[]
}

interface AwaitedObject {
  readonly name: string
  readonly namespace: string | undefined
}

interface Unmet {
  readonly ref: string
  readonly state: string
}

/** @throws {Failure} `usage`, or `not-found` when a selection is empty */
async function groupsOf(client: Client, goal: WaitGoal, call: Invocation): Promise<readonly AwaitedGroup[]> {
  const targets = await targetsOf(client, call)
  const groups: AwaitedGroup[] = []
  for (const { resource, names } of targets) {
    if (names.length === 0) groups.push(await selected(client, { resource, goal, call }))
    else {
      const namespace = oneNamespaceOf(call.values, resource, client)
      // A watch of one object each: a watch of all would receive every change of the others.
      for (const name of new Set(names)) groups.push({ resource, namespace, objects: [{ name, namespace }] })
    }
  }
  if (goal.type !== 'delete' && groups.every(({ objects }) => objects.length === 0))
    throw new Failure('not-found', `no ${plurals(targets)} match`, { hint: `evenkeel get ${plurals(targets)} -A` })
  return groups.filter(({ objects }) => objects.length > 0)
}

/** Words that are no kind may be names of workloads; so may a kind alone, which would select nothing. */
async function targetsOf(client: Client, call: Invocation): Promise<readonly ResourceTarget[]> {
  const { words, values, io } = call
  const resources = await client.resources({ signal: io.signal })
  const [kind = ''] = (words[0] ?? '').toLowerCase().split(/[.,/]/)
  const selects = values.flag('all') || [values.text('selector'), values.text('field-selector')].some(Boolean)
  const isKind = resources.some((resource) => isCalled(resource, kind)) && (words.length > 1 || selects)
  const isNames = !isKind && words.every((word) => !word.includes('/'))
  const workloads = isNames ? await workloadResources(client, io.signal) : []
  if (workloads.length === 0) return lookUp(client, words)
  const rows = await findWorkloads(client, words, { namespace: workloadNamespace(call, client), signal: io.signal })
  return rows.flatMap((row) => {
    const resource = workloads.find((one) => one.kind === row.kind)
    return resource ? [{ resource, names: [row.name] }] : []
  })
}

function plurals(targets: readonly ResourceTarget[]): string {
  return targets.map(({ resource }) => resource.plural).join(',')
}

async function selected(
  client: Client,
  { resource, goal, call }: { resource: DiscoveredResource; goal: WaitGoal; call: Invocation },
): Promise<AwaitedGroup> {
  const { values, io } = call
  const labelSelector = values.text('selector')
  const fieldSelector = values.text('field-selector')
  if (labelSelector === undefined && fieldSelector === undefined && !values.flag('all'))
    throw new Failure('usage', `name the ${resource.plural} to wait for, or use -l LABELS or --all`, {
      hint: `evenkeel wait ${resource.kind.toLowerCase()}/NAME --for condition=Ready`,
    })
  if (goal.type === 'create') throw new Failure('usage', '--for create needs the names of the objects')
  const namespace = namespaceOf(values, resource, client)
  const { apiVersion, kind } = resource
  const { items } = await client.list(
    { apiVersion, kind },
    {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
      signal: io.signal,
    },
  )
  return {
    resource,
    namespace,
    objects: items.map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace })),
  }
}

interface WaitOptions {
  readonly client: Client
  readonly goal: WaitGoal
  readonly call: Invocation
  readonly leftMs: number
}

/** What is left when the time is over; empty when all objects met the goal. */
async function waitForAll(
  groups: readonly AwaitedGroup[],
  { client, goal, call, leftMs }: WaitOptions,
): Promise<readonly Unmet[]> {
  const over = new AbortController()
  const waits = groups.map((group) => new GroupWait(group, { client, goal, call, isOnce: leftMs === 0 }))
  const cancel = call.io.clock.after(leftMs, () => {
    // Without a first look there is no state to report.
    void Promise.all(waits.map((each) => each.looked)).then(() => {
      over.abort(new Error('the time is over'))
    })
  })
  try {
    return (await Promise.all(waits.map((each) => each.run(over.signal)))).flat()
  } finally {
    cancel()
    // A failure of one group ends the others.
    over.abort(new Error('the wait is over'))
  }
}

interface GroupWaitOptions extends Omit<WaitOptions, 'leftMs'> {
  /** Look once, and do not wait. */
  readonly isOnce: boolean
}

/** An object that has not met the goal yet. */
interface PendingObject extends AwaitedObject {
  /** Of the object that was seen first: one with the same name that follows is another object. */
  uid?: string | undefined
  state: string
}

class GroupWait {
  readonly #group: AwaitedGroup
  readonly #options: GroupWaitOptions
  readonly #pending: Map<string, PendingObject>
  readonly #looked = deferred<void>()
  #isFirst = true

  constructor(group: AwaitedGroup, options: GroupWaitOptions) {
    this.#group = group
    this.#options = options
    this.#pending = new Map(
      group.objects.map((object) => [keyOf(object), { ...object, state: 'the server has not answered yet' }]),
    )
  }

  /** Resolves when the objects were seen for the first time. */
  get looked(): Promise<void> {
    return this.#looked.promise
  }

  async run(over: AbortSignal): Promise<readonly Unmet[]> {
    const { client, call, isOnce } = this.#options
    const { resource, namespace, objects } = this.#group
    const { io } = call
    const [only] = objects
    const changes = watchObjects(client, resource, {
      namespace,
      fieldSelector: objects.length === 1 && only ? `metadata.name=${only.name}` : undefined,
      signal: AbortSignal.any([io.signal, over]),
      clock: io.clock,
    })
    try {
      for await (const change of changes) {
        await this.#take(change)
        if (this.#pending.size === 0 || isOnce) break
      }
    } catch (error) {
      if (!over.aborted || io.signal.aborted) throw error
    }
    return [...this.#pending.values()].map((object) => ({ ref: this.#ref(object), state: object.state }))
  }

  async #take(change: ObjectChange): Promise<void> {
    if (change.type === 'LISTED') {
      const listed = new Map(change.objects.map((object) => [keyOf(object.metadata), object]))
      for (const [key, pending] of [...this.#pending]) await this.#judge(pending, listed.get(key))
      this.#isFirst = false
      this.#looked.resolve()
    } else {
      const pending = this.#pending.get(keyOf(change.object.metadata))
      if (pending) await this.#judge(pending, change.type === 'DELETED' ? undefined : change.object)
    }
  }

  /** @throws {Failure} `not-found`, when an object that must exist does not */
  async #judge(pending: PendingObject, seen: KubeObject | undefined): Promise<void> {
    const { goal, client, call } = this.#options
    pending.uid ??= seen?.metadata.uid
    const isOther = goal.type === 'delete' && seen !== undefined && seen.metadata.uid !== pending.uid
    const object = isOther ? undefined : seen
    if (goal.isMet(object)) {
      this.#pending.delete(keyOf(pending))
      this.#print(pending)
    } else if (object === undefined && goal.type !== 'create') {
      const { apiVersion, kind } = this.#group.resource
      if (!this.#isFirst) throw new Failure('not-found', `${this.#ref(pending)} was deleted while waiting for it`)
      throw await notFound(client, { object: { apiVersion, kind, ...pending }, signal: call.io.signal })
    } else pending.state = goal.describe(object)
  }

  #print(object: AwaitedObject): void {
    const { io, json, values } = this.#options.call
    const { apiVersion, kind } = this.#group.resource
    const { name, namespace } = object
    io.stdout.write(
      json
        ? `${JSON.stringify({ met: values.text('for'), apiVersion, kind, name, ...(namespace !== undefined && { namespace }) })}\n`
        : `${safeLine(this.#ref(object))} condition met\n`,
    )
  }

  #ref({ name }: AwaitedObject): string {
    return `${this.#group.resource.kind.toLowerCase()}/${name}`
  }
}

function keyOf({ name = '', namespace = '' }: { name?: string | undefined; namespace?: string | undefined }): string {
  return `${namespace}/${name}`
}
