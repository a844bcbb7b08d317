/**
 * ValidatingAdmissionPolicy: expressions that refuse a write, warn about it or note it in the audit log.
 *
 * Every policy is asked, also after one has refused: warnings and notes of the others are worth having. The first
 * refusal is the one that is told.
 */
import { ApiError, formatSubject, isKnownReason, loadAdmissionEngine } from '#api'
import type { AdmissionInput, AdmissionEngine, UnstructuredObject } from '#api'
import type { ServerContext } from '../../call.ts'
import type { Resource } from '../../resources/resource.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts'
import { expressionInput } from '../expressions/expressions.ts'
import { convertToVersion } from '../matching/forms.ts'
import { isAdmissionConfiguration } from '../matching/matching.ts'
import type { Matcher } from '../matching/matching.ts'
import { admissionSubject } from '../subject.ts'
import { AuditAnnotations } from './audit-notes.ts'
import { dispatchPolicies } from './dispatch.ts'
import { compilePolicy, evaluatePolicy } from './evaluate.ts'
import type { CompiledPolicy, Denial, ValidateResult } from './evaluate.ts'
import { ParamResolver } from './params.ts'
import { PolicySource } from './policy.ts'
import type { PolicyBinding, AdmissionPolicy } from './policy.ts'

type ValidatingPolicyContext = Pick<ServerContext, 'informers' | 'registry' | 'store' | 'cluster' | 'authorizer'>

const admissionGroup = 'admissionregistration.k8s.io'

/** The step of admission that asks validating policies. */
export function validatingPolicyPlugin(server: ValidatingPolicyContext, matching: Matcher): AdmissionPlugin {
  const { informers, authorizer } = server
  const source = new PolicySource(
    informers.forResource(admissionGroup, 'validatingadmissionpolicies'),
    informers.forResource(admissionGroup, 'validatingadmissionpolicybindings'),
  )
  const params = new ParamResolver(server)
  return {
    name: 'ValidatingAdmissionPolicy',
    handles(admitted) {
      const bound = source.bound()
      return (
        bound.length > 0 &&
        !isAdmissionConfiguration(admitted.target) &&
        bound.some(({ policy }) => matching.couldMatch(policy.criteria, admitted))
      )
    },
    async validate(object, admitted) {
      if (admitted.user === undefined) return
      const language = await loadAdmissionEngine()
      const round = new ValidatingPolicyRound({ object, admitted, language, matching, authorizer })
      for (const one of await dispatchPolicies(source.bound(), { ...admitted, object }, { matching, params })) {
        if (one.failure === undefined) for (const param of one.params) await round.invoke(one, param)
        else round.deny({ message: one.failure, reason: '' }, one)
      }
      round.end()
    },
  }
}

interface ValidatingRoundOptions {
  readonly object: UnstructuredObject | undefined
  readonly admitted: AdmissionAttributes
  readonly language: AdmissionEngine
  readonly matching: Matcher
  readonly authorizer: ServerContext['authorizer']
}

interface PolicyCall {
  readonly policy: AdmissionPolicy
  readonly binding: PolicyBinding
  readonly resource: Resource
}

/** One write, and what policies say about it. */
class ValidatingPolicyRound {
  readonly #options: ValidatingRoundOptions
  readonly #notes = new AuditAnnotations()
  readonly #forms = new Map<
    Resource,
    Promise<{ object: UnstructuredObject | undefined; old: UnstructuredObject | undefined }>
  >()
  #refusal: ApiError | undefined
  #hasNoted = false

  constructor(options: ValidatingRoundOptions) {
    this.#options = options
  }

  async invoke({ policy, binding, resource }: PolicyCall, param: UnstructuredObject | undefined): Promise<void> {
    const { denials, annotations, failures } = await this.#evaluate(policy, resource, param)
    for (const denial of denials) this.#act(denial, policy, binding)
    for (const { key, value } of annotations) this.#notes.add(`${policy.name}/${key}`, value)
    for (const message of failures) this.deny({ message, reason: '' }, { policy, binding })
  }

  deny(
    { message, reason }: Pick<Denial, 'message' | 'reason'>,
    { policy, binding }: { policy: AdmissionPolicy; binding?: PolicyBinding },
  ): void {
    const whose = binding === undefined ? `'${policy.name}'` : `'${policy.name}' with binding '${binding.name}'`
    const text = `ValidatingAdmissionPolicy ${whose} denied request: ${message}`
    const { admitted, object } = this.#options
    const subject = admissionSubject(admitted.target, object)
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

  #act(denial: Denial, policy: AdmissionPolicy, binding: PolicyBinding): void {
    const { admitted } = this.#options
    for (const action of binding.actions) {
      if (action === 'Deny') this.deny(denial, { policy, binding })
      else if (action === 'Warn')
        admitted.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${denial.message}`,
        )
      else if (action === 'Audit') this.#noteFailure(failureAnnotation(denial, policy, binding))
    }
  }

  /** There is room for one of them: upstream keeps the first, and so do we. */
  #noteFailure(note: string): void {
    if (!this.#hasNoted) this.#options.admitted.annotate(failureKey, note)
    this.#hasNoted = true
  }

  async #evaluate(
    policy: AdmissionPolicy,
    resource: Resource,
    params: UnstructuredObject | undefined,
  ): Promise<ValidateResult> {
    const compiled = compiledOf(policy, this.#options.language)
    return evaluatePolicy(compiled, await this.#inputFor(resource, params))
  }

  async #inputFor(resource: Resource, params: UnstructuredObject | undefined): Promise<AdmissionInput> {
    const { admitted, matching, authorizer } = this.#options
    return expressionInput(admitted, {
      ...(await this.#inForm(resource)),
      authorizer,
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
    return {
      object: object && (await convertToVersion(object, from, to)),
      old: old && (await convertToVersion(old, from, to)),
    }
  }
}

const compiled = new WeakMap<AdmissionPolicy, CompiledPolicy>()

function compiledOf(policy: AdmissionPolicy, language: AdmissionEngine): CompiledPolicy {
  let known = compiled.get(policy)
  if (known === undefined) compiled.set(policy, (known = compilePolicy(policy, language)))
  return known
}

const failureKey = 'validation.policy.admission.k8s.io/validation_failure'

function failureAnnotation({ message, index }: Denial, { name }: AdmissionPolicy, binding: PolicyBinding): string {
  return JSON.stringify([
    { message, policy: name, binding: binding.name, expressionIndex: index, validationActions: binding.actions },
  ])
}
