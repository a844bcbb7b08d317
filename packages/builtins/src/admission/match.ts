/**
 * Matching of requests for webhooks and policies: rules over groups, versions, resources and operations, selectors,
 * and match conditions.
 */
import {
  errorsOfEach,
  pushAll,
  checkPathSegmentName,
  fieldError,
  objectsIn,
  optionalObjectIn,
  textIn,
  textsIn,
  type FieldError,
  type FieldPath,
  type JsonObject,
  type JsonObjectDraft,
} from 'evenkeel/unstable/builtins'
import { draftsIn, setDefault } from '../defaulting.ts'
import {
  allowOneOf,
  refuse,
  requireChoice,
  requireOneOf,
  requireQualifiedName,
  requireText,
  validateSelectorIn,
} from '../validation.ts'
import { ExpressionChecker } from './expressions.ts'

export const matchPolicies = ['Equivalent', 'Exact']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const mutatingOperations = operations.filter((operation) => operation !== 'DELETE')
const scopes = ['*', 'Cluster', 'Namespaced']
const conditionsMax = 64

/** The default scope of a rule is `*`. */
export function defaultMatchRules(parent: JsonObjectDraft, key: string): void {
  for (const rule of draftsIn(parent, key)) setDefault(rule, 'scope', '*')
}

/** Defaults of `matchConstraints` and `matchResources`. */
export function defaultMatchResources(match: JsonObjectDraft): void {
  setDefault(match, 'matchPolicy', 'Equivalent')
  setDefault(match, 'namespaceSelector', {})
  setDefault(match, 'objectSelector', {})
  defaultMatchRules(match, 'resourceRules')
  defaultMatchRules(match, 'excludeResourceRules')
}

export function validateMatchResources(match: JsonObject, path: FieldPath): FieldError[] {
  return [
    ...requireChoice(textIn(match, 'matchPolicy'), path.child('matchPolicy'), matchPolicies),
    ...errorsOfEach(['namespaceSelector', 'objectSelector'], (key) =>
      optionalObjectIn(match, key) === undefined
        ? [fieldError.required(path.child(key))]
        : validateSelectorIn(match, key, path),
    ),
    ...errorsOfEach(['resourceRules', 'excludeResourceRules'], (key) =>
      errorsOfEach(objectsIn(match, key), (rule, index) => validateNamedRule(rule, path.child(key).index(index))),
    ),
  ]
}

/** A mutating policy cannot match DELETE. */
export function validateMutatingOperations(match: JsonObject | undefined, path: FieldPath): FieldError[] {
  return errorsOfEach(objectsIn(match, 'resourceRules'), (rule) =>
    errorsOfEach(textsIn(rule, 'operations'), (operation) =>
      requireOneOf(operation, path.child('resourceRules', 'operations'), mutatingOperations),
    ),
  )
}

/** A rule with operations, as in webhooks. */
export function validateMatchRule(rule: JsonObject, path: FieldPath): FieldError[] {
  const ruleOperations = textsIn(rule, 'operations')
  const errors = ruleOperations.length === 0 ? [fieldError.required(path.child('operations'))] : []
  pushAll(errors, validateWildcard(ruleOperations, path.child('operations'), { things: 'operations' }))
  pushAll(
    errors,
    errorsOfEach(ruleOperations, (operation, index) =>
      requireOneOf(operation, path.child('operations').index(index), operations),
    ),
  )
  for (const [key, things] of [
    ['apiGroups', 'API groups'],
    ['apiVersions', 'API versions'],
  ] as const) {
    if (textsIn(rule, key).length === 0) errors.push(fieldError.required(path.child(key)))
    pushAll(errors, validateWildcard(textsIn(rule, key), path.child(key), { things }))
  }
  textsIn(rule, 'apiVersions').forEach((version, index) =>
    pushAll(errors, requireText(version, path.child('apiVersions').index(index))),
  )
  pushAll(errors, validateResourcePatterns(textsIn(rule, 'resources'), path.child('resources')))
  return [...errors, ...allowOneOf(rule['scope'], path.child('scope'), scopes)]
}

export function validateMatchConditions(
  conditions: readonly JsonObject[],
  path: FieldPath,
  { expressions = new ExpressionChecker() }: { expressions?: ExpressionChecker } = {},
): FieldError[] {
  const seen = new Set<string>()
  const errors = conditions.length > conditionsMax ? [fieldError.tooMany(path, conditions.length, conditionsMax)] : []
  conditions.forEach((condition, index) => {
    const [here, name] = [path.index(index), textIn(condition, 'name')]
    const text = textIn(condition, 'expression').trim()
    pushAll(
      errors,
      text === ''
        ? [fieldError.required(here.child('expression'))]
        : expressions.condition(text, here.child('expression')),
    )
    if (name === '') errors.push(fieldError.required(here.child('name')))
    else pushAll(errors, requireQualifiedName(name, here.child('name')))
    if (name !== '' && seen.has(name)) errors.push(fieldError.duplicate(here.child('name'), name))
    seen.add(name)
  })
  return errors
}

function validateNamedRule(rule: JsonObject, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  const errors = errorsOfEach(textsIn(rule, 'resourceNames'), (name, index) => {
    const here = path.child('resourceNames').index(index)
    const duplicate = seen.has(name) ? [fieldError.duplicate(here, name)] : []
    seen.add(name)
    return [...refuse(name, here, checkPathSegmentName(name)), ...duplicate]
  })
  return [...errors, ...validateMatchRule(rule, path)]
}

function validateWildcard(values: readonly string[], path: FieldPath, { things }: { things: string }): FieldError[] {
  if (values.length <= 1 || !values.includes('*')) return []
  return [fieldError.invalid(path, values, `if '*' is present, must not specify other ${things}`)]
}

// Patterns for resources in admission rules: `pods`, `pods/status`, `pods/*`, `*`, `*` + `/scale`, and `*` on both sides.
//
// A pattern that is covered by another one is an error.

const everything = '*/*'

function validateResourcePatterns(patterns: readonly string[], path: FieldPath): FieldError[] {
  const errors = patterns.length === 0 ? [fieldError.required(path)] : []
  pushAll(errors, validateCovered(patterns, path))
  if (patterns.length > 1 && patterns.includes(everything)) {
    errors.push(fieldError.invalid(path, patterns, "if '*/*' is present, must not specify other resources"))
  }
  if (patterns.includes('*') && endsWithPlain(patterns)) {
    errors.push(
      fieldError.invalid(path, patterns, "if '*' is present, must not specify other resources without subresources"),
    )
  }
  return errors
}

function validateCovered(patterns: readonly string[], path: FieldPath): FieldError[] {
  const [wholeResources, wholeSubresources] = [new Set<string>(), new Set<string>()]
  return errorsOfEach(patterns, (pattern, index) => {
    if (pattern === '') return [fieldError.required(path.index(index))]
    const slash = pattern.indexOf('/')
    if (slash < 0) return []
    const [resource, subresource] = [pattern.slice(0, slash), pattern.slice(slash + 1)]
    const covering: string[] = []
    if (wholeResources.has(resource)) covering.push(`${resource}/*`)
    if (wholeSubresources.has(subresource)) covering.push(`*/${subresource}`)
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
    return covering.map((cover) =>
      fieldError.invalid(path.index(index), pattern, `if '${cover}' is present, must not specify ${pattern}`),
    )
  })
}

/** Only the last pattern without a subresource counts, as in kube-apiserver. */
function endsWithPlain(patterns: readonly string[]): boolean {
  const last = patterns.filter((pattern) => pattern !== '' && !pattern.includes('/')).at(-1)
  return last !== undefined && last !== '*'
}
