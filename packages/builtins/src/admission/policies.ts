/**
 * ValidatingAdmissionPolicies and MutatingAdmissionPolicies: match constraints, parameters and expressions.
 *
 * Expressions must compile. Type checking against the matched kinds happens later and is reported in the status.
 */
import {
  errorsOfEach,
  pushAll,
  checkDns1035Label,
  checkDnsSubdomain,
  checkQualifiedName,
  fieldError,
  FieldPath,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftIn, ensureDraft, setDefault } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { allowOneOf, refuse, requireChoice, requireText } from '../validation.ts'
import { ExpressionChecker, loadExpressionLanguage } from './expressions.ts'
import {
  defaultMatchResources,
  validateMatchConditions,
  validateMatchResources,
  validateMutatingOperations,
} from './match.ts'
import { failurePolicies } from './webhooks.ts'

const specPath = FieldPath.of('spec')
const annotationsMax = 20
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/
const reserved: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])
const noteBytesMax = 5 * 1024

export const validatingPolicyStrategy: StrategyHooks = {
  default: defaultPolicy,
  prepareForCreate(object) {
    object['status'] = {}
  },
  loadValidators: loadExpressionLanguage,
  validate(object) {
    const spec = objectIn(object, 'spec')
    const hasVariables = objectsIn(spec, 'variables').length > 0
    const expressions = new ExpressionChecker({
      hasParams: optionalObjectIn(spec, 'paramKind') !== undefined,
      hasVariables,
    })
    return [...validateSubject(spec, expressions), ...validateDecisions(object, expressions)]
  },
}

export const mutatingPolicyStrategy: StrategyHooks = {
  default: defaultPolicy,
  loadValidators: loadExpressionLanguage,
  validate(object) {
    const spec = objectIn(object, 'spec')
    const expressions = new ExpressionChecker({
      hasParams: optionalObjectIn(spec, 'paramKind') !== undefined,
      hasVariables: true,
    })
    return [
      ...validateSubject(spec, expressions),
      ...validateMutatingOperations(optionalObjectIn(spec, 'matchConstraints'), specPath.child('matchConstraints')),
      ...validateMutations(objectsIn(spec, 'mutations'), specPath.child('mutations'), { expressions }),
      ...requireChoice(textIn(spec, 'reinvocationPolicy'), specPath.child('reinvocationPolicy'), ['IfNeeded', 'Never']),
    ]
  },
}

function defaultPolicy(object: ObjectDraft): void {
  const spec = ensureDraft(object, 'spec')
  setDefault(spec, 'failurePolicy', 'Fail')
  const match = draftIn(spec, 'matchConstraints')
  if (match !== undefined) defaultMatchResources(match)
}

/** The common part of both kinds: failure policy, match constraints, parameters, variables. */
function validateSubject(spec: JsonObject, expressions: ExpressionChecker): FieldError[] {
  const errors = requireChoice(textIn(spec, 'failurePolicy'), specPath.child('failurePolicy'), failurePolicies)
  const [paramKind, match] = [optionalObjectIn(spec, 'paramKind'), optionalObjectIn(spec, 'matchConstraints')]
  if (paramKind !== undefined) pushAll(errors, validateParamKind(paramKind, specPath.child('paramKind')))
  const matchPath = specPath.child('matchConstraints')
  if (match === undefined) errors.push(fieldError.required(matchPath))
  else {
    pushAll(errors, validateMatchResources(match, matchPath))
    if (objectsIn(match, 'resourceRules').length === 0)
      errors.push(fieldError.required(matchPath.child('resourceRules')))
  }
  pushAll(
    errors,
    validateMatchConditions(objectsIn(spec, 'matchConditions'), specPath.child('matchConditions'), { expressions }),
  )
  return [
    ...errors,
    ...errorsOfEach(objectsIn(spec, 'variables'), (variable, index) =>
      validateVariable(variable, specPath.child('variables').index(index), { expressions }),
    ),
  ]
}

function validateParamKind(paramKind: JsonObject, path: FieldPath): FieldError[] {
  const [apiVersion, kind] = [textIn(paramKind, 'apiVersion'), textIn(paramKind, 'kind')]
  const errors =
    apiVersion === ''
      ? [fieldError.required(path.child('apiVersion'))]
      : validateVersion(apiVersion, path.child('apiVersion'))
  if (kind === '') return [...errors, fieldError.required(path.child('kind'))]
  const complaints = checkDns1035Label(kind.toLowerCase())
  if (complaints.length === 0) return errors
  return [
    ...errors,
    fieldError.invalid(
      path.child('kind'),
      kind,
      `may have mixed case, but should otherwise match: ${complaints.join(',')}`,
    ),
  ]
}

function validateVersion(apiVersion: string, path: FieldPath): FieldError[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [fieldError.invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const [group, version] = parts.length === 2 ? [parts[0] ?? '', parts[1] ?? ''] : ['', apiVersion]
  const groupComplaints = group === '' ? [] : checkDnsSubdomain(group)
  const errors = groupComplaints.length > 0 ? [fieldError.invalid(path, group, groupComplaints.join(','))] : []
  if (version === '') return [...errors, fieldError.invalid(path, apiVersion, 'version must be specified')]
  const complaints = checkDns1035Label(version)
  return complaints.length > 0 ? [...errors, fieldError.invalid(path, version, complaints.join(','))] : errors
}

function validateVariable(
  variable: JsonObject,
  path: FieldPath,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  const [name, text] = [textIn(variable, 'name'), textIn(variable, 'expression')]
  const errors = requireText(name.trim(), path.child('name'), { detail: 'name is not specified' })
  const isIdentifier = identifier.test(name) && !reserved.has(name)
  if (errors.length === 0 && !isIdentifier)
    errors.push(fieldError.invalid(path.child('name'), name, 'must be a valid CEL identifier'))
  if (text.trim() === '')
    return [...errors, fieldError.required(path.child('expression'), 'expression is not specified')]
  return [...errors, ...expressions.variable(name, { text, path: path.child('expression') })]
}

function validateDecisions(object: UnstructuredObject, expressions: ExpressionChecker): FieldError[] {
  const spec = objectIn(object, 'spec')
  const [validations, annotations] = [objectsIn(spec, 'validations'), objectsIn(spec, 'auditAnnotations')]
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    return ['validations', 'auditAnnotations'].map((key) => fieldError.required(specPath.child(key), detail))
  }
  return [
    ...errorsOfEach(validations, (validation, index) =>
      validateValidation(validation, specPath.child('validations').index(index), { expressions }),
    ),
    ...validateAnnotations(annotations, object.metadata.name ?? '', { expressions }),
  ]
}

function validateValidation(
  validation: JsonObject,
  path: FieldPath,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  const [text, message, expression] = [
    textIn(validation, 'expression'),
    textIn(validation, 'message'),
    textIn(validation, 'messageExpression'),
  ]
  const errors =
    text.trim() === ''
      ? [fieldError.required(path.child('expression'), 'expression is not specified')]
      : expressions.validation(text, path.child('expression'))
  if (expression !== '' && expression.trim() === '') {
    errors.push(fieldError.invalid(path.child('messageExpression'), expression, 'must be non-empty if specified'))
  } else if (expression !== '') pushAll(errors, expressions.message(expression, path.child('messageExpression')))
  if (message !== '' && message.trim() === '')
    errors.push(fieldError.invalid(path.child('message'), message, 'must be non-empty if specified'))
  else if (/[\n\r]/.test(message.trim()))
    errors.push(fieldError.invalid(path.child('message'), message, 'must not contain line breaks'))
  return [...errors, ...allowOneOf(validation['reason'], path.child('reason'), reasons)]
}

function validateAnnotations(
  annotations: readonly JsonObject[],
  name: string,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  const path = specPath.child('auditAnnotations')
  const errors =
    annotations.length > annotationsMax
      ? [fieldError.invalid(path, annotations, `must not have more than ${annotationsMax} auditAnnotations`)]
      : []
  const seen = new Set<string>()
  annotations.forEach((annotation, index) => {
    const [here, key] = [path.index(index), textIn(annotation, 'key')]
    const fullKey = `${name}/${key}`
    pushAll(errors, refuse(fullKey, here.child('key'), checkQualifiedName(fullKey)))
    pushAll(errors, validateNote(textIn(annotation, 'valueExpression'), here.child('valueExpression'), { expressions }))
    if (seen.has(key)) errors.push(fieldError.duplicate(here.child('key'), key))
    seen.add(key)
  })
  return errors
}

function validateNote(
  text: string,
  path: FieldPath,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  if (text.trim() === '') return [fieldError.required(path, 'valueExpression is not specified')]
  if (Buffer.byteLength(text.trim()) > noteBytesMax)
    return [fieldError.required(path, `must not exceed ${noteBytesMax} bytes in length`)]
  return expressions.annotation(text, path)
}

// The mutations of a policy: a JSON patch or an apply configuration, each from one expression.

const forms = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const

function validateMutations(
  mutations: readonly JsonObject[],
  path: FieldPath,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  if (mutations.length === 0) return [fieldError.required(path, 'mutations must contain at least one item')]
  return errorsOfEach(mutations, (mutation, index) => validateMutation(mutation, path.index(index), { expressions }))
}

function validateMutation(
  mutation: JsonObject,
  path: FieldPath,
  { expressions }: { expressions: ExpressionChecker },
): FieldError[] {
  const type = textIn(mutation, 'patchType')
  if (type === '') return [fieldError.required(path.child('patchType'))]
  if (type !== 'ApplyConfiguration' && type !== 'JSONPatch')
    return [fieldError.notSupported(path.child('patchType'), type, Object.keys(forms))]
  const [used, other] =
    type === 'JSONPatch' ? [forms.JSONPatch, forms.ApplyConfiguration] : [forms.ApplyConfiguration, forms.JSONPatch]
  const change = optionalObjectIn(mutation, used)
  const errors =
    change === undefined
      ? [fieldError.required(path.child(used), `must be specified when patchType is ${type}`)]
      : validateChange(textIn(change, 'expression').trim(), path.child(used, 'expression'), {
          expressions,
          isPatch: type === 'JSONPatch',
        })
  if (optionalObjectIn(mutation, other) === undefined) return errors
  return [
    ...errors,
    fieldError.invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${type}`),
  ]
}

function validateChange(
  text: string,
  path: FieldPath,
  { expressions, isPatch }: { expressions: ExpressionChecker; isPatch: boolean },
): FieldError[] {
  if (text === '') return [fieldError.required(path)]
  return isPatch ? expressions.patch(text, path) : expressions.configuration(text, path)
}
