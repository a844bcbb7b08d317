/**
 * ValidatingAdmissionPolicy: expressions that refuse a write, warn about it or note it in the audit log.
 *
 * Every policy is asked, also after one has refused: warnings and notes of the others are worth having. The first
 * refusal is the one that is told.
 */
import { ApiError, formatSubject, isKnownReason, loadAdmissionLanguage } from '#api'
import type { AdmissionInput, AdmissionLanguage, UnstructuredObject } from '#api'
import type { Rooms } from '../../call.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Admitted, AdmissionStep } from '../admission.ts'
import { expressionInput } from '../expressions/expressions.ts'
import { inForm } from '../matching/forms.ts'
import { isAdmissionConfiguration } from '../matching/matching.ts'
import type { Matching } from '../matching/matching.ts'
import { subjectOf } from '../subject.ts'
import { AuditNotes } from './audit-notes.ts'
import { dispatch } from './dispatch.ts'
import { compilePolicy, evaluatePolicy } from './evaluate.ts'
import type { CompiledPolicy, Denial, Verdict } from './evaluate.ts'
import { Params } from './params.ts'
import { PolicySource } from './policy.ts'
import type { Binding, Policy } from './policy.ts'

type PolicyRooms = Pick<Rooms, 'views' | 'registry' | 'store' | 'cluster' | 'access'>

const group = 'admissionregistration.k8s.io'

/** The step of admission that asks validating policies. */
export function validatingPolicies(rooms: PolicyRooms, matching: Matching): AdmissionStep {
  const { views, access } = rooms
  const source = new PolicySource(
    views.of(group, 'validatingadmissionpolicies'),
    views.of(group, 'validatingadmissionpolicybindings'),
  )
  const params = new Params(rooms)
  return {
    name: 'ValidatingAdmissionPolicy',
    concerns(admitted) {
      const bound = source.bound()
      return (
        bound.length > 0 &&
        !isAdmissionConfiguration(admitted.target) &&
        bound.some(({ policy }) => matching.couldMatch(policy.criteria, admitted))
      )
    },
    async validate(object, admitted) {
      if (admitted.user === undefined) return
      const language = await loadAdmissionLanguage()
      const round = new Round({ object, admitted, language, matching, access })
      for (const one of await dispatch(source.bound(), { ...admitted, object }, { matching, params })) {
        if (one.failure === undefined) for (const param of one.params) await round.ask(one, param)
        else round.refuse({ message: one.failure, reason: '' }, one)
      }
      round.end()
    },
  }
}

interface RoundOptions {
  readonly object: UnstructuredObject | undefined
  readonly admitted: Admitted
  readonly language: AdmissionLanguage
  readonly matching: Matching
  readonly access: Rooms['access']
}

interface Asked {
  readonly policy: Policy
  readonly binding: Binding
  readonly resource: Resource
}

/** One write, and what policies say about it. */
class Round {
  readonly #options: RoundOptions
  readonly #notes = new AuditNotes()
  readonly #forms = new Map<
    Resource,
    Promise<{ object: UnstructuredObject | undefined; old: UnstructuredObject | undefined }>
  >()
  #refusal: ApiError | undefined
  #hasNoted = false

  constructor(options: RoundOptions) {
    this.#options = options
  }

  async ask({ policy, binding, resource }: Asked, param: UnstructuredObject | undefined): Promise<void> {
    const { denials, annotations, failures } = await this.#evaluate(policy, resource, param)
    for (const denial of denials) this.#act(denial, policy, binding)
    for (const { key, value } of annotations) this.#notes.add(`${policy.name}/${key}`, value)
    for (const message of failures) this.refuse({ message, reason: '' }, { policy, binding })
  }

  refuse(
    { message, reason }: Pick<Denial, 'message' | 'reason'>,
    { policy, binding }: { policy: Policy; binding?: Binding },
  ): void {
    const whose = binding === undefined ? `'${policy.name}'` : `'${policy.name}' with binding '${binding.name}'`
    const text = `ValidatingAdmissionPolicy ${whose} denied request: ${message}`
    const { admitted, object } = this.#options
    const subject = subjectOf(admitted.target, object)
    const known = isKnownReason(reason) ? reason : 'Invalid'
    this.#refusal ??= new ApiError(known, `${formatSubject(subject)} is forbidden: ${text}`, {
      subject,
      causes: [{ message: text }],
    })
  }

  /** @throws {ApiError} when a policy has refused. */
  end(): void {
    this.#notes.publish(this.#options.admitted)
    if (this.#refusal) throw this.#refusal
  }

  #act(denial: Denial, policy: Policy, binding: Binding): void {
    const { admitted } = this.#options
    for (const action of binding.actions) {
      if (action === 'Deny') this.refuse(denial, { policy, binding })
      else if (action === 'Warn')
        admitted.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${denial.message}`,
        )
      else if (action === 'Audit') this.#noteFailure(failureNote(denial, policy, binding))
    }
  }

  /** There is room for one of them: upstream keeps the first, and so do we. */
  #noteFailure(note: string): void {
    if (!this.#hasNoted) this.#options.admitted.annotate(failureKey, note)
    this.#hasNoted = true
  }

  async #evaluate(policy: Policy, resource: Resource, params: UnstructuredObject | undefined): Promise<Verdict> {
    const compiled = compiledOf(policy, this.#options.language)
    return evaluatePolicy(compiled, await this.#inputFor(resource, params))
  }

  async #inputFor(resource: Resource, params: UnstructuredObject | undefined): Promise<AdmissionInput> {
    const { admitted, matching, access } = this.#options
    return expressionInput(admitted, {
      ...(await this.#inForm(resource)),
      access,
      params,
      resource,
      namespaceObject: matching.namespaceOf(admitted.target),
    })
  }

  #inForm(
    resource: Resource,
  ): Promise<{ object: UnstructuredObject | undefined; old: UnstructuredObject | undefined }> {
    let forms = this.#forms.get(resource)
    if (forms === undefined) this.#forms.set(resource, (forms = this.#convert(resource)))
    return forms
  }

  async #convert(
    to: Resource,
  ): Promise<{ object: UnstructuredObject | undefined; old: UnstructuredObject | undefined }> {
    const {
      object,
      admitted: { old, target },
    } = this.#options
    const from = target.resource
    return { object: object && (await inForm(object, from, to)), old: old && (await inForm(old, from, to)) }
  }
}

const compiled = new WeakMap<Policy, CompiledPolicy>()

function compiledOf(policy: Policy, language: AdmissionLanguage): CompiledPolicy {
  let known = compiled.get(policy)
  if (known === undefined) compiled.set(policy, (known = compilePolicy(policy, language)))
  return known
}

const failureKey = 'validation.policy.admission.k8s.io/validation_failure'

function failureNote({ message, index }: Denial, { name }: Policy, binding: Binding): string {
  return JSON.stringify([
    { message, policy: name, binding: binding.name, expressionIndex: index, validationActions: binding.actions },
  ])
}
