/**
 * The controller of ProcessSets: makes its Processes from the template, and rolls out changes of the template.
 *
 *   object ─▶ revision of the template ─▶ its Processes ─▶ rollout.ts ─▶ make, update, remove ─▶ status, events
 *
 * Only Processes with the revision of the template are applied; those with an earlier one are left as they are until it is their turn. One that
 * is missing and may not have the new revision yet is made as its neighbours are: the template of an earlier revision is nowhere else,
 * because values of variables are only in specs.
 *
 * A restart of all is a revision of its own: each Process gets a restart request when it is its turn.
 *
 * Invariants: those of rollout.ts; the revision label and the spec of a Process change in one write.
 */
import { createHash } from 'node:crypto'
import { action, isConditionTrue, type ControllerDeclaration, type ReconcileResult } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { formatActionRequest, formatTime, requestAnnotation } from 'evenkeel/unstable/api'
import { endOwned, indexLabel, indexOf, isDeleting, ownedProcesses, removeOwned } from '../owned-processes.ts'
import { dependencyVerbs, missingOf } from '../process-dependencies.ts'
import { Process, type ProcessObject } from '../process-kind.ts'
import { nextRollout, type Member } from './rollout.ts'
import { ProcessSet, type ProcessSetObject, type ProcessSetStatus } from './set-kind.ts'

type Context = Parameters<NonNullable<ControllerDeclaration<typeof ProcessSet, ManagedContext>['reconcile']>>[1]

const revisionLabel = 'workloads.evenkeel.dev/revision'
/** The restart of all that a Process has received. */
const restartAnnotation = 'workloads.evenkeel.dev/restart'
const revisionsKept = 10

interface SetRun {
  readonly set: ProcessSetObject
  readonly context: Context
  readonly revision: string
  readonly restart: ProcessSetStatus['restart']
}

type Step = ReturnType<typeof nextRollout>

export class ProcessSetController {
  readonly #kind: typeof ProcessSet
  readonly #restart = action('restart', { form: 'token', about: 'Restarts its Processes, one after the other.' })
  readonly #pause = action('pause', {
    form: 'state',
    about: 'Holds a change of the template back.',
    patch: { spec: { paused: true } },
    enabledWhen: '!object.spec.paused',
  })
  readonly #resume = action('resume', {
    form: 'state',
    about: 'Goes on with a change of the template.',
    patch: { spec: { paused: false } },
    enabledWhen: 'object.spec.paused',
  })
  readonly #dependencies = dependencyVerbs(({ spec }: ProcessSetObject) => spec.template.spec.dependsOn)

  constructor({ kind = ProcessSet }: { readonly kind?: typeof ProcessSet } = {}) {
    this.#kind = kind
  }

  declaration(): ControllerDeclaration<typeof ProcessSet, ManagedContext> {
    return {
      for: this.#kind,
      owns: [Process],
      concurrency: 16,
      verbs: [...this.#dependencies, this.#restart, this.#pause, this.#resume],
      reconcile: (set, context) => this.#reconcile(set, context),
      cleanup: async (set, context) => {
        const left = await endOwned(set, context)
        return left.length > 0 ? { park: `the end of ${left.length} Processes` } : undefined
      },
    }
  }

  async #reconcile(set: ProcessSetObject, context: Context): Promise<ReconcileResult | undefined> {
    let restart = set.status?.restart
    await this.#restart.handle(context, ({ token, by = 'an unknown user' }) => {
      restart = { token, by }
    })
    const run: SetRun = { set, context, restart, revision: revisionOf(set, restart?.token) }
    const { replicas = 1, partition = 0, paused = false } = set.spec
    const members = ownedProcesses(context.children).map(memberOf)
    const step = nextRollout({ replicas, partition, isPaused: paused, updateRevision: run.revision, members })
    await this.#perform(run, step)
    await this.#report(run, step)
    return undefined
  }

  async #perform(run: SetRun, { create, update, remove }: Step): Promise<void> {
    const { context, revision } = run
    const processes = ownedProcesses(context.children)
    for (const process of processes.filter((one) => remove.includes(indexOf(one)))) await removeOwned(process, context)
    for (const process of processes) {
      const index = indexOf(process)
      if (isDeleting(process) || remove.includes(index)) continue
      if (index === update) await this.#update(run, process)
      else if (revisionLabelOf(process) === revision) await this.#apply(run, index)
    }
    for (const index of create) await this.#create(run, { index, processes })
  }

  async #update(run: SetRun, process: ProcessObject): Promise<void> {
    const { context, restart, revision } = run
    const { token, by } = restart ?? {}
    if (token !== undefined && process.metadata.annotations?.[restartAnnotation] !== token)
      await context.client.patch(
        process,
        {
          metadata: {
            annotations: {
              [requestAnnotation('restart')]: formatActionRequest({ token, ...(by !== undefined && { by }) }),
            },
          },
        },
        { signal: context.signal },
      )
    await this.#apply(run, indexOf(process))
    context.event({ reason: 'Updated', note: `Process ${process.metadata.name} gets revision ${revision}` })
  }

  async #create(
    run: SetRun,
    { index, processes }: { readonly index: number; readonly processes: readonly ProcessObject[] },
  ): Promise<void> {
    const { set, context, revision } = run
    const { partition = 0, paused = false, replicas = 1 } = set.spec
    const isHeldBack = index < replicas && (index < partition || paused)
    const neighbour = isHeldBack
      ? processes.find((one) => !isDeleting(one) && revisionLabelOf(one) !== revision)
      : undefined
    if (!neighbour) return this.#apply(run, index)
    const { labels, annotations } = neighbour.metadata
    await context.children.apply(
      Process,
      {
        metadata: {
          name: `${set.metadata.name}-${index}`,
          labels: { ...ownLabels(labels), [indexLabel]: String(index) },
          annotations: ownAnnotations(annotations),
        },
        spec: neighbour.spec,
      },
      { prune: false },
    )
  }

  /** Makes a Process as the template says. */
  async #apply({ set, context, revision, restart }: SetRun, index: number): Promise<void> {
    const { metadata, spec } = set.spec.template
    await context.children.apply(
      Process,
      {
        metadata: {
          name: `${set.metadata.name}-${index}`,
          labels: { ...metadata?.labels, [indexLabel]: String(index), [revisionLabel]: revision },
          annotations: {
            ...metadata?.annotations,
            ...(restart?.token !== undefined && { [restartAnnotation]: restart.token }),
          },
        },
        spec,
      },
      { prune: false },
    )
  }

  async #report(run: SetRun, { isRolling }: Step): Promise<void> {
    const { set, context, revision, restart } = run
    const { replicas = 1, paused = false, template } = set.spec
    const { currentRevision = revision, updateRevision, revisions = [] } = set.status ?? {}
    const processes = ownedProcesses(context.children)
    const members = processes.map(memberOf)
    const wanted = members.filter(({ index }) => index < replicas)
    const ready = members.filter(({ isReady }) => isReady).length
    const isNew = updateRevision !== revision
    const isDone = wanted.length === replicas && wanted.every((one) => one.isReady && one.revision === revision)
    const cause = restart?.token === set.status?.restart?.token ? 'the template' : `a restart by ${restart?.by ?? ''}`
    if (isNew && updateRevision !== undefined)
      context.event({ reason: 'RollingOut', note: `revision ${revision} replaces ${updateRevision}: ${cause}` })
    if (isDone && currentRevision !== revision)
      context.event({ reason: 'RolledOut', note: `all ${replicas} Processes have revision ${revision}` })
    context.status.set({
      replicas: processes.length,
      readyReplicas: ready,
      updatedReplicas: members.filter((one) => one.revision === revision).length,
      selector: `evenkeel.dev/owner-uid=${set.metadata.uid}`,
      currentRevision: isDone ? revision : currentRevision,
      updateRevision: revision,
      ...(isNew && {
        revisions: [
          ...revisions.filter(({ name }) => name !== revision),
          { name: revision, since: formatTime(context.clock.now()), cause },
        ].slice(-revisionsKept),
      }),
      ...(restart && { restart }),
    })
    const { missing } = await missingOf(template.spec.dependsOn, { verbs: this.#dependencies, context })
    const waiting = processes.find((one) => indexOf(one) < replicas && !memberOf(one).isReady)
    const isReady = wanted.length === replicas && ready >= replicas
    context.status.condition('Ready', isReady, {
      reason: isReady ? 'Ready' : (missing?.reason ?? 'NotReady'),
      message: isReady ? '' : (missing?.message ?? reasonOf(waiting, { ready, replicas })),
    })
    context.status.condition('Progressing', isRolling || !isDone, {
      reason: paused && !isDone ? 'Paused' : isRolling ? 'RollingOut' : isDone ? 'Complete' : 'Waiting',
    })
  }
}

/** What the Processes are made from. It says nothing about the values in it. */
function revisionOf({ spec: { template } }: ProcessSetObject, restart: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted([template, restart ?? null])))
    .digest('hex')
    .slice(0, 10)
}

/** The same value whatever the order of its fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, one]) => [name, sorted(one)] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function revisionLabelOf({ metadata: { labels } }: ProcessObject): string {
  return labels?.[revisionLabel] ?? ''
}

function memberOf(process: ProcessObject): Member {
  const { status, metadata } = process
  return {
    index: indexOf(process),
    revision: revisionLabelOf(process),
    isDeleting: isDeleting(process),
    isReady:
      !isDeleting(process) &&
      isConditionTrue(status?.conditions, 'Ready') &&
      status?.observedGeneration === metadata.generation &&
      !hasRestartToCome(process),
  }
}

/** A restart that was requested and not performed: its Ready condition is about to change. */
function hasRestartToCome({ metadata, status }: ProcessObject): boolean {
  const request = metadata.annotations?.[requestAnnotation('restart')]
  const handled = status?.actions?.find(({ name }) => name === 'restart')?.lastHandled
  return request !== undefined && (handled === undefined || !request.includes(handled))
}

/** Without what the verb `children` adds. */
function ownLabels(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith('evenkeel.dev/')))
}

/** Without what the verb `children` adds, and without requests. */
function ownAnnotations(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name]) => !/^(?:children\.|action\.)?evenkeel\.dev\//.test(name)),
  )
}

function reasonOf(
  process: ProcessObject | undefined,
  { ready, replicas }: { readonly ready: number; readonly replicas: number },
): string {
  const condition = process?.status?.conditions?.find(({ type }) => type === 'Ready')
  const why = process && condition ? `; Process ${process.metadata.name}: ${condition.message || condition.reason}` : ''
  return `${ready} of ${replicas} are ready${why}`
}
