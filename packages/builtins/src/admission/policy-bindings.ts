/**
 * Bindings of admission policies: the policy, its parameters, the matched objects and the actions.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsSubdomain,
  checkPathSegmentName,
  fieldError,
  FieldPath,
  objectIn,
  optionalObjectIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import { draftIn } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { repeatedAt, refuse, requireChoice, requireOneOf, validateSelectorIn } from '../validation.ts'
import { defaultMatchResources, validateMatchResources, validateMutatingOperations } from './match.ts'

const specPath = FieldPath.of('spec')
const matchPath = specPath.child('matchResources')
const actions = ['Audit', 'Deny', 'Warn']
const bothComplaint =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'

export const validatingBindingStrategy: StrategyHooks = {
  default: defaultBinding,
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [...validateBinding(spec), ...validateActions(textsIn(spec, 'validationActions'))]
  },
}

export const mutatingBindingStrategy: StrategyHooks = {
  default: defaultBinding,
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [
      ...validateBinding(spec),
      ...validateMutatingOperations(optionalObjectIn(spec, 'matchResources'), matchPath),
    ]
  },
}

function defaultBinding(object: ObjectDraft): void {
  const spec = draftIn(object, 'spec')
  const match = spec && draftIn(spec, 'matchResources')
  if (match !== undefined) defaultMatchResources(match)
}

function validateBinding(spec: JsonObject): FieldError[] {
  const name = textIn(spec, 'policyName')
  const errors =
    name === ''
      ? [fieldError.required(specPath.child('policyName'))]
      : refuse(name, specPath.child('policyName'), checkDnsSubdomain(name))
  const [param, match] = [optionalObjectIn(spec, 'paramRef'), optionalObjectIn(spec, 'matchResources')]
  if (param !== undefined) pushAll(errors, validateParam(param, specPath.child('paramRef')))
  if (match !== undefined) pushAll(errors, validateMatchResources(match, matchPath))
  return errors
}

function validateParam(param: JsonObject, path: FieldPath): FieldError[] {
  const [name, hasSelector] = [textIn(param, 'name'), optionalObjectIn(param, 'selector') !== undefined]
  const errors = [
    ...refuse(name, path.child('name'), checkPathSegmentName(name)),
    ...validateSelectorIn(param, 'selector', path),
  ]
  if (name !== '' && hasSelector) {
    pushAll(
      errors,
      ['name', 'selector'].map((key) =>
        fieldError.forbidden(path.child(key), 'name and selector are mutually exclusive'),
      ),
    )
  }
  if (name === '' && !hasSelector) errors.push(fieldError.required(path, 'one of name or selector must be specified'))
  return [
    ...errors,
    ...requireChoice(textIn(param, 'parameterNotFoundAction'), path.child('parameterNotFoundAction'), [
      'Deny',
      'Allow',
    ]),
  ]
}

function validateActions(list: readonly string[]): FieldError[] {
  const path = specPath.child('validationActions')
  const repeated = repeatedAt(list)
  const errors = errorsOfEach(list, (action, index) => [
    ...requireOneOf(action, path.index(index), actions),
    ...(repeated.has(index) ? [fieldError.duplicate(path.index(index), action)] : []),
  ])
  if (list.includes('Deny') && list.includes('Warn')) errors.push(fieldError.invalid(path, list, bothComplaint))
  if (list.length === 0) errors.push(fieldError.required(path, 'at least one validation action is required'))
  return errors
}
