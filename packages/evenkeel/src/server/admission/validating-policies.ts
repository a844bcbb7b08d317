/**
 * ValidatingAdmissionPolicy: expressions that refuse a write, warn about it or annotate its audit event.
 *
 * Every policy is evaluated, also after one has refused, for its warnings and annotations. The first refusal is the
 * error. Each round of expressions (conditions, validations, messages, annotations) has its own values of the
 * variables; messages use the cost budget that validations left.
 */
import {
  ApiError,
  formatSubject,
  isKnownReason,
  loadAdmissionEngine,
  matchConditionsCostMax,
  objectsIn,
  textIn,
  type AdmissionCompiler,
  type AdmissionEngine,
  type AdmissionEvaluation,
  type AdmissionExpression,
  type AdmissionInput,
  type AdmissionResult,
  type UnstructuredObject,
} from '#api'
import type { Resource } from '@evenkeel/builtins'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import type { Informers } from '../informers.ts'
import { admissionSubject, type AdmissionAttributes, type AdmissionPlugin } from './admission.ts'
import { convertToVersion } from './conversion.ts'
import { expressionInput, meetsConditions } from './expressions.ts'
import { acceptsPolicies, type Matcher } from './matching.ts'
import {
  dispatchPolicies,
  PolicySource,
  type ParamResolver,
  type AdmissionPolicy,
  type PolicyBinding,
} from './policies.ts'

interface ValidatingPolicyContext {
  readonly informers: Informers
  readonly params: ParamResolver
  readonly authorizer: AuthorizerChain
}

const admissionGroup = 'admissionregistration.k8s.io'

/** The admission plugin of validating policies. */
export function validatingPolicyPlugin(
  { informers, params, authorizer }: ValidatingPolicyContext,
  matching: Matcher,
): AdmissionPlugin {
  const source = new PolicySource(
    informers.forResource(admissionGroup, 'validatingadmissionpolicies'),
    informers.forResource(admissionGroup, 'validatingadmissionpolicybindings'),
  )
  return {
    name: 'ValidatingAdmissionPolicy',
    handles(admitted) {
      const bound = source.bound()
      return (
        bound.length > 0 &&
        acceptsPolicies(admitted.target) &&
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
  readonly authorizer: AuthorizerChain
}

interface PolicyCall {
  readonly policy: AdmissionPolicy
  readonly binding: PolicyBinding
  readonly resource: Resource
}

/** One write and the results of its policies. */
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

  /** @throws {ApiError} when a policy refused the write. */
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

  /** There is one field for all failures: the first is kept, as upstream does. */
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

/** A validation that failed. */
interface Denial {
  /** The index of the validation. */
  readonly index: number
  readonly message: string
  /** The reason of the Status; empty when the policy itself failed. */
  readonly reason: string
}

/** The result of one policy for a write. */
interface ValidateResult {
  readonly denials: readonly Denial[]
  readonly annotations: readonly { readonly key: string; readonly value: string }[]
  /** Errors of audit annotations: they refuse the write whatever the binding says. */
  readonly failures: readonly string[]
}

interface Validation {
  readonly expression: AdmissionExpression
  readonly messageExpression: AdmissionExpression | undefined
  readonly message: string
  readonly text: string
  readonly reason: string
}

interface CompiledPolicy {
  readonly compiler: AdmissionCompiler
  readonly conditions: readonly AdmissionExpression[]
  readonly validations: readonly Validation[]
  readonly annotations: readonly { readonly key: string; readonly expression: AdmissionExpression }[]
  readonly ignoresFailure: boolean
}

const messageBytesMax = 5 * 1024
const passed: ValidateResult = { denials: [], annotations: [], failures: [] }

function compilePolicy(
  { spec, paramKind, ignoresFailure }: AdmissionPolicy,
  language: AdmissionEngine,
): CompiledPolicy {
  const compiler = language.compiler({ hasParams: paramKind !== undefined, hasVariables: true })
  for (const variable of objectsIn(spec, 'variables'))
    compiler.define(textIn(variable, 'name'), textIn(variable, 'expression'))
  return {
    compiler,
    ignoresFailure,
    conditions: objectsIn(spec, 'matchConditions').map((condition) =>
      compiler.compile(textIn(condition, 'expression'), { resultTypes: ['bool'] }),
    ),
    validations: objectsIn(spec, 'validations').map((validation) => ({
      expression: compiler.compile(textIn(validation, 'expression'), { resultTypes: ['bool'] }),
      messageExpression:
        textIn(validation, 'messageExpression') === ''
          ? undefined
          : compiler.compile(textIn(validation, 'messageExpression'), { resultTypes: ['string'] }),
      message: textIn(validation, 'message').trim(),
      text: textIn(validation, 'expression').trim(),
      reason: textIn(validation, 'reason') || 'Invalid',
    })),
    annotations: objectsIn(spec, 'auditAnnotations').map((annotation) => ({
      key: textIn(annotation, 'key'),
      expression: compiler.compile(textIn(annotation, 'valueExpression'), { resultTypes: ['string', 'null_type'] }),
    })),
  }
}

async function evaluatePolicy(policy: CompiledPolicy, input: AdmissionInput): Promise<ValidateResult> {
  const { compiler, conditions, annotations } = policy
  if (conditions.length > 0) {
    // Upstream gives match conditions no namespace object.
    const met = await meetsConditions(
      conditions,
      compiler.start({ ...input, namespaceObject: undefined }, { budget: matchConditionsCostMax }),
    )
    if (met.error !== undefined) return failedResult(met.error, policy)
    if (!met.isMet) return passed
  }
  const denials = await evaluateValidations(policy, input)
  if (denials === undefined) return failedResult(exhausted, policy)
  return annotations.length === 0 ? { ...passed, denials } : evaluateAuditAnnotations(policy, { input, denials })
}

/** Undefined when there is no budget left. */
async function evaluateValidations(
  policy: CompiledPolicy,
  input: AdmissionInput,
): Promise<readonly Denial[] | undefined> {
  const evaluation = policy.compiler.start(input)
  const outcomes: AdmissionResult[] = []
  for (const { expression } of policy.validations) {
    const outcome = await evaluateExpression(evaluation, expression)
    if (outcome.error !== undefined && outcome.isExhausted) return undefined
    outcomes.push(outcome)
  }
  // Upstream also computes messages of validations that pass; here only those that are shown.
  if (outcomes.every((outcome) => outcome.error === undefined && outcome.value === true)) return []
  return denialsOf(policy, outcomes, await makeMessages(policy, { input, budget: evaluation.budget }))
}

function denialsOf(
  { validations, ignoresFailure }: CompiledPolicy,
  outcomes: readonly AdmissionResult[],
  messages: readonly string[] | undefined,
): readonly Denial[] {
  return validations.flatMap(({ message, text, reason }, index): Denial[] => {
    const outcome = outcomes[index]
    if (outcome?.error !== undefined) return ignoresFailure ? [] : [{ index, message: outcome.error, reason: '' }]
    if (messages === undefined)
      return ignoresFailure ? [] : [{ index, message: `failed messageExpression: ${exhausted}`, reason: '' }]
    if (outcome?.value === true) return []
    return [{ index, message: messages[index] || message || `failed expression: ${text}`, reason }]
  })
}

/** A message for each validation, empty where there is none; undefined when there is no budget left. */
async function makeMessages(
  { compiler, validations }: CompiledPolicy,
  { input, budget }: { input: AdmissionInput; budget: number },
): Promise<readonly string[] | undefined> {
  const evaluation = compiler.start(withoutAuthorizer(input), { budget })
  const messages: string[] = []
  for (const { messageExpression } of validations) {
    const outcome: AdmissionResult =
      messageExpression === undefined ? { value: '' } : await evaluateExpression(evaluation, messageExpression)
    if (outcome.error !== undefined && outcome.isExhausted) return undefined
    const text = outcome.error === undefined && typeof outcome.value === 'string' ? outcome.value.trim() : ''
    messages.push(Buffer.byteLength(text) > messageBytesMax || text.includes('\n') ? '' : text)
  }
  return messages
}

async function evaluateAuditAnnotations(
  { compiler, annotations, ignoresFailure }: CompiledPolicy,
  { input, denials }: { input: AdmissionInput; denials: readonly Denial[] },
): Promise<ValidateResult> {
  const evaluation = compiler.start(withoutAuthorizer(input))
  const values: { key: string; value: string }[] = []
  const failures: string[] = []
  for (const { key, expression } of annotations) {
    const outcome = await evaluateExpression(evaluation, expression)
    if (outcome.error === undefined) {
      const value = typeof outcome.value === 'string' ? outcome.value.trim() : ''
      if (value !== '') values.push({ key, value })
    } else if (outcome.isExhausted) {
      return failedResult(outcome.error, { ignoresFailure })
    } else if (!ignoresFailure) failures.push(outcome.error)
  }
  return { denials, annotations: values, failures }
}

async function evaluateExpression(
  evaluation: AdmissionEvaluation,
  expression: AdmissionExpression,
): Promise<AdmissionResult> {
  return evaluation.evaluate(expression)
}

function failedResult(message: string, { ignoresFailure }: Pick<CompiledPolicy, 'ignoresFailure'>): ValidateResult {
  return ignoresFailure ? passed : { ...passed, denials: [{ index: 0, message, reason: '' }] }
}

/** Messages and annotations have no `authorizer` variable. */
function withoutAuthorizer({ object, oldObject, request, namespaceObject, params }: AdmissionInput): AdmissionInput {
  return { object, oldObject, request, namespaceObject, params }
}

const exhausted = 'validation failed due to running out of cost budget, no further validation rules will be run'

const valueBytesMax = 10 * 1024

export class AuditAnnotations {
  readonly #notes = new Map<string, Set<string>>()

  add(key: string, value: string): void {
    const values = this.#notes.get(key) ?? new Set()
    // Truncated by bytes: an incomplete character at the end becomes a replacement character.
    values.add(
      Buffer.byteLength(value) > valueBytesMax ? Buffer.from(value).subarray(0, valueBytesMax).toString() : value,
    )
    this.#notes.set(key, values)
  }

  publish({ annotate }: Pick<AdmissionAttributes, 'annotate'>): void {
    for (const [key, values] of this.#notes) annotate(key, [...values].join(', '))
  }
}
