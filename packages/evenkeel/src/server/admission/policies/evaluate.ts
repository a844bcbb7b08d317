/**
 * What a validating policy makes of one write: a decision for each of its validations, and notes for the audit log.
 *
 * Each round of expressions (conditions, validations, messages, annotations) has its own values of the policy's variables;
 * messages are paid from what validations left over.
 */
import { matchConditionsCostMax } from '#api'
import type {
  AdmissionCompiler,
  AdmissionEvaluation,
  AdmissionExpression,
  AdmissionInput,
  AdmissionEngine,
  AdmissionResult,
} from '#api'
import { objectsIn, textIn } from '../../builtin/rules/reading.ts'
import { meetsConditions } from '../matching/conditions.ts'
import type { AdmissionPolicy } from './policy.ts'

/** A validation that did not pass. */
export interface Denial {
  /** Which of the validations, by index. */
  readonly index: number
  readonly message: string
  /** Why, as a status says it; empty when the policy itself failed. */
  readonly reason: string
}

/** What a policy says of a write. */
export interface ValidateResult {
  readonly denials: readonly Denial[]
  readonly annotations: readonly { readonly key: string; readonly value: string }[]
  /** What went wrong with annotations: refuses the write whatever the binding says. */
  readonly failures: readonly string[]
}

interface Validation {
  readonly expression: AdmissionExpression
  readonly messageExpression: AdmissionExpression | undefined
  readonly message: string
  readonly text: string
  readonly reason: string
}

export interface CompiledPolicy {
  readonly compiler: AdmissionCompiler
  readonly conditions: readonly AdmissionExpression[]
  readonly validations: readonly Validation[]
  readonly annotations: readonly { readonly key: string; readonly expression: AdmissionExpression }[]
  readonly ignoresFailure: boolean
}

const messageBytesMax = 5 * 1024
const passed: ValidateResult = { denials: [], annotations: [], failures: [] }

export function compilePolicy(
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

export async function evaluatePolicy(policy: CompiledPolicy, input: AdmissionInput): Promise<ValidateResult> {
  const { compiler, conditions, annotations } = policy
  if (conditions.length > 0) {
    // Upstream does not tell conditions of the namespace.
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
  // Upstream makes messages also of what passes; here they are made where somebody will read them.
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

/** A text for each validation, empty where there is none that can be shown; undefined when there is no budget left. */
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

/** Messages and annotations may not ask who may do what. */
function withoutAuthorizer({ object, oldObject, request, namespaceObject, params }: AdmissionInput): AdmissionInput {
  return { object, oldObject, request, namespaceObject, params }
}

const exhausted = 'validation failed due to running out of cost budget, no further validation rules will be run'
