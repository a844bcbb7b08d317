/**
 * A declaration of dependencies as a verb: what follows from it for a controller, and what it does in each run.
 *
 *   start: judge every reference, tell it, write what is to be written ──▶ reconcile asks: resolve, one, find
 */
import { declareKind, type Kind, type KubeObject } from '#api'
import type { ObjectCache } from '#cache'
import {
  PerRun,
  StopReconcile,
  type BaseContext,
  type CleanupStep,
  type ControllerDeclaration,
  type Extension,
  type PluginRun,
  type PolicyRule,
  type ReconcileContext,
  type Reconciled,
  type VerbParts,
} from '#controller'
import { contractReader, type ContractReader } from './contract.ts'
import { checkDependency, isReadyBy, type DependencyCheck, type IsReady } from './dependency-check.ts'
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
import { ReferenceGrant } from './reference-grants.ts'
import { targetsOf, type KindChoice, type Reference, type RefsOf } from './reference.ts'
import { describeProblem, hasDependencyStatus, isForgivable, recordOf, type CheckedDependency } from './status.ts'
import { ClusterUsage, Usage, usageKindFor } from './usages.ts'

/** What one run knows. */
interface RunState {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly group: DependencyRun
  answers: Promise<readonly Answer[]> | undefined
}

/** A verdict, and what follows from it. */
interface Answer extends FoundDependency<unknown, unknown, Reference> {
  readonly check: DependencyCheck
  /** Whether the reconcile may go on with it. */
  readonly isUsable: boolean
}

/** When nobody tells that a kind has come, we look ourselves. */
const recheckMs = 30_000

/** When a mark could not be written: nothing depends on it, and many may try. */
const annotateAgainMs = 300_000

export class DependencyVerb implements DependsOn<never, never>, DependencyRunMember {
  readonly name = 'dependsOn'
  readonly kinds: readonly Kind[]
  readonly #choice: KindChoice
  readonly #refsOf: RefsOf<never, Reference>
  readonly #options: DependsOnOptions<never>
  readonly #ready: IsReady
  readonly #contract: ContractReader | undefined
  readonly #runs = new PerRun<RunState>('dependsOn(...)')
  readonly #followed = new WeakMap<ObjectCache, Map<string, FollowedDependencies>>()

  constructor(choice: KindChoice, refsOf: RefsOf<never, Reference>, options: DependsOnOptions<never>) {
    const { contract, keepLastGood = false, crossNamespace, grants = ReferenceGrant, protect } = options
    if (keepLastGood && !contract) throw new RangeError('keepLastGood keeps the contract as it last was: give one')
    if (choice !== 'any' && choice.length === 0) throw new RangeError('dependsOn needs a kind')
    this.#choice = choice
    this.#refsOf = refsOf
    this.#options = options
    this.#ready = isReadyBy(options.ready)
    this.#contract = contract && contractReader(contract)
    this.kinds = [
      ...(crossNamespace === 'granted' && grants === ReferenceGrant ? [ReferenceGrant] : []),
      ...(protect === 'whileInUse' ? [Usage, ClusterUsage] : []),
    ]
  }

  // What follows from it

  adds(declaration: ControllerDeclaration): VerbParts {
    const { for: kind, name: controller = kind.kind.toLowerCase(), verbs = [] } = declaration
    this.#check(declaration)
    const { prefix, isProtected: isHeld, usage } = this.edgesFor({ kind })
    const { crossNamespace = 'deny', grants = ReferenceGrant } = this.#options
    const granting = crossNamespace === 'granted' ? grants : undefined
    const source = new DependencySource(
      {
        controller,
        declaration,
        kinds: this.#choice,
        refsOf: this.#refsOf,
        number: verbs.indexOf(this as never),
        isOptional: this.#options.optional ?? false,
        staysInside: crossNamespace === 'deny' && kind.scope === 'Namespaced',
        grants: granting,
        isProtected: isHeld,
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
      rbac: this.#rules(kind),
      ...(isFirst && { cleanup: [this.#cleanup({ kind, controller })] }),
    }
  }

  edgesFor({ kind }: Pick<PluginRun, 'kind'>): EdgeRequest {
    const { annotate: mark = false, protect = 'none', reason = `the ${kind.kind} depends on it` } = this.#options
    return {
      prefix: mark === false ? undefined : mark === true ? `used-by.${kind.group || 'evenkeel.dev'}` : mark,
      isProtected: protect === 'finalizer',
      usage: protect === 'whileInUse' ? reason : undefined,
    }
  }

  followedIn({ cache, controller }: Pick<PluginRun, 'cache' | 'controller'>): FollowedDependencies {
    const followed = this.#followed.get(cache)?.get(controller)
    if (!followed)
      throw new RangeError(`the controller ${controller} does not follow its dependencies: it has not been started`)
    return followed
  }

  /** @throws {RangeError} */
  #check({ for: kind, reconcileKey }: ControllerDeclaration): void {
    const { gate, keepLastGood = false } = this.#options
    if (reconcileKey)
      throw new RangeError(`dependsOn needs the object: use reconcile instead of reconcileKey for ${kind.kind}`)
    const wants = [
      gate === 'oncePerGeneration' && 'gate',
      keepLastGood && 'keepLastGood',
      needsRecord([this], { kind }) && 'mark or protect',
    ].filter((one) => one !== false)
    if (wants.length > 0 && !hasDependencyStatus(kind))
      throw new RangeError(
        `${wants.join(', ')} of dependsOn needs room in the status of ${kind.kind}: give its kind a status, and reports: ['dependencies']`,
      )
  }

  #rules(kind: Kind): PolicyRule[] {
    const { crossNamespace, grants = ReferenceGrant } = this.#options
    const { prefix, isProtected: isHeld, usage } = this.edgesFor({ kind })
    const verbs = ['get', 'list', 'watch', ...(prefix !== undefined || isHeld ? ['patch'] : [])]
    const depended =
      this.#choice === 'any'
        ? []
        : this.#choice.map((choice) => ({
            apiGroups: [choice.group],
            resources: [choice.plural ?? declareKind({ group: choice.group, version: 'v1', kind: choice.kind }).plural],
            verbs,
          }))
    const usages = usageKindFor(kind)
    return [
      ...depended,
      ...(crossNamespace === 'granted'
        ? [{ apiGroups: [grants.group], resources: [grants.plural], verbs: ['get', 'list', 'watch'] }]
        : []),
      // Whoever names an owner that waits for its children must be allowed to set the owner's finalizers.
      ...(usage === undefined
        ? []
        : [
            {
              apiGroups: [usages.group],
              resources: [usages.plural],
              verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
            },
            { apiGroups: [kind.group], resources: [`${kind.plural}/finalizers`], verbs: ['update'] },
          ]),
    ]
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

  // What it does in a run

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
    const blocked = answers.filter(({ isUsable }) => !isUsable && !(this.#options.optional ?? false))
    if (blocked.length > 0 && !state.run.isCleanup) {
      const message = blocked
        .slice(0, 5)
        .map(({ check: verdict }) => describeProblem(verdict))
        .join('; ')
      throw new StopReconcile(message, { result: recheckAfter(blocked) ?? { park: message } })
    }
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
      throw new RangeError(`there are ${resolved.length} dependencies: ask for all of them with resolve`)
    return resolved[0]
  }

  async find(context: Pick<BaseContext, 'signal'>): Promise<readonly FoundDependency<never, never, Reference>[]> {
    const answers = await this.#answer(this.#runs.get(context))
    return answers.map(
      ({ check: _, isUsable: __, ...found }) => found as unknown as FoundDependency<never, never, Reference>,
    )
  }

  /** Judged once in a run, whoever asks first. */
  #answer(state: RunState): Promise<readonly Answer[]> {
    return (state.answers ??= this.#checkAll(state))
  }

  async #checkAll({ base, run, group }: RunState): Promise<readonly Answer[]> {
    const { object } = run
    if (!object) return []
    const {
      crossNamespace = 'deny',
      optional: isOptional = false,
      gate,
      keepLastGood: keepsLastGood = false,
    } = this.#options
    const judging = {
      base,
      run,
      referer: object,
      followed: this.followedIn(run),
      ready: this.#ready,
      contract: this.#contract,
      crossNamespace,
      isOptional,
    }
    const verdicts: DependencyCheck[] = []
    for (const target of targetsOf(object, this.#refsOf, this.#choice))
      verdicts.push(await checkDependency(target, judging))
    const answers = await Promise.all(verdicts.map((verdict) => this.#answerFor(verdict, object)))
    const judged: CheckedDependency[] = verdicts.map((verdict) => ({
      check: verdict,
      isOptional,
      isRatchet: gate === 'oncePerGeneration',
      keepsLastGood,
    }))
    await group.add(this, judged)
    return answers
  }

  async #answerFor(verdict: DependencyCheck, referer: KubeObject): Promise<Answer> {
    const {
      target: { reference },
      object,
      reason,
      message,
    } = verdict
    const contract = verdict.contract?.value ?? (await this.#lastGood(verdict, referer))
    const isReady = reason === undefined
    const isUsable =
      isReady ||
      (this.#options.keepLastGood === true && contract !== undefined && isForgivable(reason)) ||
      this.#wasReady(verdict, referer)
    return { object, contract, reference, isReady, reason, message, check: verdict, isUsable }
  }

  async #lastGood({ ref: place, reason }: DependencyCheck, referer: KubeObject): Promise<unknown> {
    if (this.#options.keepLastGood !== true || reason === undefined || !isForgivable(reason)) return undefined
    const published = recordOf(referer, place)?.contract
    const read = published === undefined ? undefined : await this.#contract?.check(published)
    return read?.reason === undefined ? read?.value : undefined
  }

  /** Whether it was ready for this generation before, and is still something to go on with. */
  #wasReady({ ref: place, object, reason, contract }: DependencyCheck, referer: KubeObject): boolean {
    if (
      this.#options.gate !== 'oncePerGeneration' ||
      (reason !== 'NotReady' && reason !== 'Terminating') ||
      (this.#contract && !contract)
    )
      return false
    const record = recordOf(referer, place)
    return (
      record?.readyForGeneration !== undefined &&
      record.readyForGeneration === referer.metadata.generation &&
      record.uid === object?.metadata.uid
    )
  }
}

function membersOf({ verbs = [] }: Pick<ControllerDeclaration, 'verbs'>): readonly DependencyVerb[] {
  return verbs.filter((verb) => verb instanceof DependencyVerb) as unknown as DependencyVerb[]
}

function recheckAfter(answers: readonly Answer[]): Reconciled {
  return answers.some(({ check: verdict }) => verdict.needsRecheck) ? { afterMs: recheckMs } : undefined
}
