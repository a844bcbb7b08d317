/**
 * Which requests an admission hook or policy is about: rules over groups, versions, resources and operations, selectors,
 * and conditions.
 */
import { checkPathSegmentName, fieldError } from '#api'
import type { FieldError, FieldPath, JsonObject, JsonObjectDraft } from '#api'
import { allowOneOf, refuse, requireChoice, requireOneOf, requireQualifiedName, requireText } from '../checks.ts'
import { draftsIn, setDefault } from '../drafts.ts'
import { objectsIn, optionalObjectIn, textIn, textsIn } from '../reading.ts'
import { validateSelectorIn } from '../selectors.ts'
import { ExpressionChecker } from './expressions.ts'
import { validateResourcePatterns } from './resource-patterns.ts'

export const matchPolicies = ['Equivalent', 'Exact']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const mutatingOperations = operations.filter((operation) => operation !== 'DELETE')
const scopes = ['*', 'Cluster', 'Namespaced']
const conditionsMax = 64

/** Rules are about objects of any scope unless they say so. */
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
    ...['namespaceSelector', 'objectSelector'].flatMap((key) =>
      optionalObjectIn(match, key) === undefined
        ? [fieldError.required(path.child(key))]
        : validateSelectorIn(match, key, path),
    ),
    ...['resourceRules', 'excludeResourceRules'].flatMap((key) =>
      objectsIn(match, key).flatMap((rule, index) => validateNamedRule(rule, path.child(key).index(index))),
    ),
  ]
}

/** Deletion leaves nothing to change, so policies that change objects cannot be about it. */
export function validateMutatingOperations(match: JsonObject | undefined, path: FieldPath): FieldError[] {
  return objectsIn(match, 'resourceRules').flatMap((rule) =>
    textsIn(rule, 'operations').flatMap((operation) =>
      requireOneOf(operation, path.child('resourceRules', 'operations'), mutatingOperations),
    ),
  )
}

/** A rule with operations, as webhooks have them. */
export function validateMatchRule(rule: JsonObject, path: FieldPath): FieldError[] {
  const asked = textsIn(rule, 'operations')
  const errors = asked.length === 0 ? [fieldError.required(path.child('operations'))] : []
  errors.push(...validateWildcard(asked, path.child('operations'), { things: 'operations' }))
  errors.push(
    ...asked.flatMap((operation, index) => requireOneOf(operation, path.child('operations').index(index), operations)),
  )
  for (const [key, things] of [
    ['apiGroups', 'API groups'],
    ['apiVersions', 'API versions'],
  ] as const) {
    if (textsIn(rule, key).length === 0) errors.push(fieldError.required(path.child(key)))
    errors.push(...validateWildcard(textsIn(rule, key), path.child(key), { things }))
  }
  textsIn(rule, 'apiVersions').forEach((version, index) =>
    errors.push(...requireText(version, path.child('apiVersions').index(index))),
  )
  errors.push(...validateResourcePatterns(textsIn(rule, 'resources'), path.child('resources')))
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
    errors.push(
      ...(text === ''
        ? [fieldError.required(here.child('expression'))]
        : expressions.condition(text, here.child('expression'))),
    )
    if (name === '') errors.push(fieldError.required(here.child('name')))
    else errors.push(...requireQualifiedName(name, here.child('name')))
    if (name !== '' && seen.has(name)) errors.push(fieldError.duplicate(here.child('name'), name))
    seen.add(name)
  })
  return errors
}

function validateNamedRule(rule: JsonObject, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  const errors = textsIn(rule, 'resourceNames').flatMap((name, index) => {
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
