/**
 * The implementation of `dependsOn`: what a declaration adds to its controller, and what it does in each run.
 *
 *   start: check every reference, report it, update edges and Usages ──▶ reconcile calls resolve, one, find
 */
import type { Kind, KubeObject } from '#api'
import type { ObjectCache } from '#cache'
import {
  PerRun,
  StopReconcile,
  type BaseContext,
  type CleanupStep,
  type ClosedGate,
  type ControllerDeclaration,
  type Extension,
  type PluginRun,
  type ReconcileContext,
  type Reconciled,
  type VerbParts,
} from '#controller'
import { contractReader, type ContractReader } from './contract.ts'
import { checkDependency, isReadyBy, refuse, type DependencyCheck, type IsReady } from './dependency-check.ts'
import {
  DependencyRun,
  finalizersFor,
  needsRecord,
  type DependencyRunMember,
  type EdgeRequest,
} from './dependency-run.ts'
import { DependencySource, type FollowedDependencies } from './dependency-source.ts'
import type { DependsOn, DependsOnOptions, FoundDependency, ResolvedDependency } from './depends-on.ts'
import { annotationKey, lostAnnotations } from './edges.ts'
import { dependencyRules, limitsOf, refsWithin, type DependencyLimits } from './limits.ts'
import { ReferenceGrant } from './reference-grants.ts'
import { targetsOf, type KindChoice, type Reference, type RefsOf } from './reference.ts'
import { describeProblem, hasDependencyStatus, isForgivable, recordOf, type CheckedDependency } from './status.ts'
import { ClusterUsage, Usage, usageKindFor } from './usages.ts'

/** The state of one run. */
interface RunState {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly group: DependencyRun
  answers: Promise<readonly Answer[]> | undefined
}

/** A check, and what follows from it. */
interface Answer extends FoundDependency<unknown, unknown, Reference> {
  readonly check: DependencyCheck
  /** Whether the reconcile may continue with it. */
  readonly isUsable: boolean
}

/** A dependency as an input of another verb. */
interface NeededDependency {
  readonly object?: KubeObject | undefined
  /** Why there is none, unless it is optional. */
  readonly problem?: string
  /** When to look again. */
  readonly result?: Reconciled
}

/** How often to look for a kind that is not installed: no event reports its installation. */
const recheckMs = 30_000

/** When to retry a failed annotation. Rarely: nothing depends on it. */
const annotateAgainMs = 300_000

export class DependencyVerb implements DependsOn<never, never>, DependencyRunMember {
  readonly name = 'dependsOn'
  readonly kinds: readonly Kind[]
  readonly optional: boolean
  readonly #choice: KindChoice
  readonly #refsOf: RefsOf<never, Reference>
  readonly #options: DependsOnOptions<never>
  readonly #limits: DependencyLimits
  readonly #crossNamespace: NonNullable<DependsOnOptions['crossNamespace']>
  readonly #ready: IsReady
  readonly #contract: ContractReader | undefined
  readonly #runs = new PerRun<RunState>('dependsOn(...)')
  readonly #followed = new WeakMap<ObjectCache, Map<string, FollowedDependencies>>()

  constructor(choice: KindChoice, refsOf: RefsOf<never, Reference>, options: DependsOnOptions<never>) {
    const { contract, keepLastGood = false, crossNamespace, grants = ReferenceGrant, protect } = options
    if (keepLastGood && !contract) throw new RangeError('dependsOn: keepLastGood needs a contract')
    if (choice !== 'any' && choice.length === 0) throw new RangeError('dependsOn needs at least one kind')
    this.#choice = choice
    this.#limits = limitsOf(options)
    this.#crossNamespace = crossNamespace ?? (options.namespace === undefined ? 'deny' : 'allow')
    this.#refsOf = refsWithin(refsOf, this.#limits)
    this.#options = options
    this.optional = options.optional ?? false
    this.#ready = isReadyBy(options.ready)
    this.#contract = contract && contractReader(contract)
    this.kinds = [
      ...(crossNamespace === 'granted' && grants === ReferenceGrant ? [ReferenceGrant] : []),
      ...(protect === 'whileInUse' ? [Usage, ClusterUsage] : []),
    ]
  }

  // What the declaration adds to its controller

  adds(declaration: ControllerDeclaration): VerbParts {
    const { for: kind, name: controller = kind.kind.toLowerCase(), verbs = [] } = declaration
    this.#check(declaration)
    const { prefix, isProtected, usage } = this.edgesFor({ kind })
    const { grants = ReferenceGrant } = this.#options
    const grantKind = this.#crossNamespace === 'granted' ? grants : undefined
    const source = new DependencySource(
      {
        controller,
        declaration,
        kinds: this.#choice,
        refsOf: this.#refsOf,
        number: verbs.indexOf(this as never),
        isOptional: this.#options.optional ?? false,
        staysInside: this.#crossNamespace === 'deny' && kind.scope === 'Namespaced',
        limits: this.#limits,
        grants: grantKind,
        isProtected,
        usages: usage === undefined ? undefined : usageKindFor(kind),
        annotations:
          prefix === undefined ? undefined : { keyOf: annotationKey, lost: (event) => lostAnnotations(event, prefix) },
      },
      {
        onStart: (cache, started) => {
          this.#remember(cache, controller, started)
        },
      },
    )
    const isFirst =
      verbs.find((verb) => verb instanceof DependencyVerb && needsRecord([verb], { kind })) === (this as unknown)
    return {
      sources: [source],
      rbac: dependencyRules(kind, {
        choice: this.#choice,
        limits: this.#limits,
        options: this.#options,
        edges: this.edgesFor({ kind }),
      }),
      ...(isFirst && { cleanup: [this.#cleanup({ kind, controller })] }),
    }
  }

  edgesFor({ kind }: Pick<PluginRun, 'kind'>): EdgeRequest {
    const { annotate = false, protect = 'none', reason = `the ${kind.kind} depends on it` } = this.#options
    return {
      prefix: annotate === false ? undefined : annotate === true ? `used-by.${kind.group || 'evenkeel.dev'}` : annotate,
      isProtected: protect === 'finalizer',
      usage: protect === 'whileInUse' ? reason : undefined,
    }
  }

  followedIn({ cache, controller }: Pick<PluginRun, 'cache' | 'controller'>): FollowedDependencies {
    const followed = this.#followed.get(cache)?.get(controller)
    if (!followed)
      throw new RangeError(`controller ${controller} has not been started: its dependencies are not watched yet`)
    return followed
  }

  /** @throws {RangeError} */
  #check({ for: kind, reconcileKey }: ControllerDeclaration): void {
    const { gate, keepLastGood = false } = this.#options
    if (reconcileKey)
      throw new RangeError(`dependsOn needs an object: use reconcile instead of reconcileKey for ${kind.kind}`)
    const recording = [
      gate === 'oncePerGeneration' && 'gate',
      keepLastGood && 'keepLastGood',
      needsRecord([this], { kind }) && 'annotate or protect',
    ].filter((one) => one !== false)
    if (recording.length > 0 && !hasDependencyStatus(kind))
      throw new RangeError(
        `dependsOn: ${recording.join(', ')} needs status.dependencies of ${kind.kind}: define its kind with a status and reports: ['dependencies']`,
      )
  }

  #cleanup(run: { kind: Kind; controller: string }): CleanupStep {
    return {
      finalizer: finalizersFor(run).referer,
      cleanup: async (object, context: ReconcileContext) => {
        const {
          group,
          run: { declaration },
        } = this.#runs.get(context)
        for (const verb of membersOf(declaration)) await verb.#answer(verb.#runs.get(context))
        await group.cleanUp(object as KubeObject)
      },
    }
  }

  #remember(cache: ObjectCache, controller: string, started: FollowedDependencies): void {
    const known = this.#followed.get(cache) ?? new Map<string, FollowedDependencies>()
    this.#followed.set(cache, known.set(controller, started))
  }

  // What it does in each run

  extend(base: BaseContext, run: PluginRun): Extension<object> {
    const state: RunState = {
      base,
      run,
      group: DependencyRun.of({ base, run, members: membersOf(run.declaration) }),
      answers: undefined,
    }
    this.#runs.set(base, state)
    return {
      context: {},
      start: async () => {
        await this.#answer(state)
      },
      gate: async () => this.#gate(await this.#answer(state)),
      finish: async () =>
        state.run.isCleanup
          ? undefined
          : (recheckAfter(await this.#answer(state)) ??
            (state.group.cannotAnnotate ? { afterMs: annotateAgainMs } : undefined)),
    }
  }

  async absent(base: BaseContext, run: PluginRun): Promise<Reconciled> {
    const members = membersOf(run.declaration)
    if (members.find((member) => member.edgesFor(run).isProtected) === this)
      await DependencyRun.of({ base, run, members }).sweep()
  }

  async resolve(context: Pick<BaseContext, 'signal'>): Promise<readonly ResolvedDependency<never, never, Reference>[]> {
    const state = this.#runs.get(context)
    const answers = await this.#answer(state)
    const closed = state.run.isCleanup ? undefined : this.#gate(answers)
    if (closed) throw new StopReconcile(closed.message, { result: closed.result })
    return answers
      .filter(({ isUsable, object }) => isUsable || (state.run.isCleanup && object !== undefined))
      .map(
        ({ object, contract, reference }) =>
          ({ object, contract, reference }) as unknown as ResolvedDependency<never, never, Reference>,
      )
  }

  async one(context: Pick<BaseContext, 'signal'>): Promise<ResolvedDependency<never, never, Reference> | undefined> {
    const resolved = await this.resolve(context)
    if (resolved.length > 1)
      throw new RangeError(`there are ${resolved.length} dependencies: use resolve instead of one`)
    return resolved[0]
  }

  async find(context: Pick<BaseContext, 'signal'>): Promise<readonly FoundDependency<never, never, Reference>[]> {
    const answers = await this.#answer(this.#runs.get(context))
    return answers.map(
      ({ check: _, isUsable: __, ...found }) => found as unknown as FoundDependency<never, never, Reference>,
    )
  }

  /** The only dependency as an input of another verb: the object, or why there is none. */
  async need(context: Pick<BaseContext, 'signal'>): Promise<NeededDependency> {
    const state = this.#runs.get(context)
    const answers = await this.#answer(state)
    const [answer] = answers
    if (state.run.isCleanup)
      return { object: answers.length === 1 ? (answer?.object as KubeObject | undefined) : undefined }
    if (answers.length > 1)
      throw new RangeError(
        `needs takes one object, and ${state.run.kind.kind} ${state.base.key.name} refers to ${answers.length}`,
      )
    if (!answer && !this.optional) {
      const problem = `${state.run.kind.kind} ${state.base.key.name} refers to no object`
      return { problem, result: { park: problem } }
    }
    const closed = this.#gate(answers)
    return closed
      ? { problem: closed.message, result: closed.result }
      : { object: answer?.isUsable ? (answer.object as KubeObject | undefined) : undefined }
  }

  /** The only dependency of any object, as the cache has it, ready or not. */
  peek(referer: KubeObject, run: PluginRun): KubeObject | undefined {
    const [target] = targetsOf(referer, this.#refsOf, this.#choice)
    const followed = this.followedIn(run)
    const { optional: isOptional } = this
    const [crossNamespace, limits] = [this.#crossNamespace, this.#limits]
    if (!target || refuse(target, { referer, crossNamespace, limits, followed, run, isOptional })) return undefined
    const kind = followed.kinds.find(({ type }) => type.group === target.group && type.kind === target.kind)
    return kind?.find(kind.type.namespaced ? target : { ...target, namespace: '' })
  }

  #gate(answers: readonly Answer[]): ClosedGate | undefined {
    const blocked = this.optional ? [] : answers.filter(({ isUsable }) => !isUsable)
    if (blocked.length === 0) return undefined
    const message = blocked
      .slice(0, 5)
      .map(({ check }) => describeProblem(check))
      .join('; ')
    return { message, result: recheckAfter(blocked) ?? { park: message } }
  }

  /** Checks the references once per run. */
  #answer(state: RunState): Promise<readonly Answer[]> {
    return (state.answers ??= this.#checkAll(state))
  }

  async #checkAll({ base, run, group }: RunState): Promise<readonly Answer[]> {
    const { object } = run
    if (!object) return []
    const { gate, keepLastGood: keepsLastGood = false } = this.#options
    const isOptional = this.optional
    const checkContext = {
      base,
      run,
      referer: object,
      followed: this.followedIn(run),
      ready: this.#ready,
      contract: this.#contract,
      crossNamespace: this.#crossNamespace,
      limits: this.#limits,
      isOptional,
    }
    const checks: DependencyCheck[] = []
    for (const target of targetsOf(object, this.#refsOf, this.#choice))
      checks.push(await checkDependency(target, checkContext))
    const answers = await Promise.all(checks.map((check) => this.#answerFor(check, object)))
    const checked: CheckedDependency[] = checks.map((check) => ({
      check,
      isOptional,
      isRatchet: gate === 'oncePerGeneration',
      keepsLastGood,
    }))
    await group.add(this, checked)
    return answers
  }

  async #answerFor(check: DependencyCheck, referer: KubeObject): Promise<Answer> {
    const {
      target: { reference },
      object,
      reason,
      message,
    } = check
    const contract = check.contract?.value ?? (await this.#lastGood(check, referer))
    const isReady = reason === undefined
    const isUsable =
      isReady ||
      (this.#options.keepLastGood === true && contract !== undefined && isForgivable(reason)) ||
      this.#wasReady(check, referer)
    return { object, contract, reference, isReady, reason, message, check, isUsable }
  }

  async #lastGood({ ref, reason }: DependencyCheck, referer: KubeObject): Promise<unknown> {
    if (this.#options.keepLastGood !== true || reason === undefined || !isForgivable(reason)) return undefined
    const published = recordOf(referer, ref)?.contract
    const read = published === undefined ? undefined : await this.#contract?.check(published)
    return read?.reason === undefined ? read?.value : undefined
  }

  /** Whether the same object was ready for this generation of the referer before. */
  #wasReady({ ref, object, reason, contract }: DependencyCheck, referer: KubeObject): boolean {
    if (
      this.#options.gate !== 'oncePerGeneration' ||
      (reason !== 'NotReady' && reason !== 'Terminating') ||
      (this.#contract && !contract)
    )
      return false
    const record = recordOf(referer, ref)
    return (
      record?.readyForGeneration !== undefined &&
      record.readyForGeneration === referer.metadata.generation &&
      record.uid === object?.metadata.uid
    )
  }
}

function membersOf({ verbs = [] }: Pick<ControllerDeclaration, 'verbs'>): readonly DependencyVerb[] {
  return verbs.filter((verb) => verb instanceof DependencyVerb) as DependencyVerb[]
}

function recheckAfter(answers: readonly Answer[]): Reconciled {
  return answers.some(({ check }) => check.needsRecheck) ? { afterMs: recheckMs } : undefined
}
