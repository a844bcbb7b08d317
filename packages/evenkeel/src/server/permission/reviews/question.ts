/**
 * The question that a review asks, and what of it could not be understood.
 *
 * A requirement of a selector that cannot be read is left out: that makes the question broader, never narrower.
 */
import { parseFieldSelector, parseLabelSelector, validateLabelRequirement } from '#api'
import type { FieldRequirement, JsonObject, LabelOperator, LabelRequirement } from '#api'
import type { AuthorizationAttributes } from '../../access/access.ts'
import { objectIn, objectsIn, optionalObjectIn, textIn, textsIn } from '../../builtin/rules/reading.ts'
import type { User } from '../../call.ts'

interface ReviewedAttributes {
  readonly question: AuthorizationAttributes
  /** Selectors that were ignored, at least in part. */
  readonly errors: readonly string[]
}

/** What the spec of a review asks about a user. */
export function attributesIn(spec: JsonObject, user: User): ReviewedAttributes {
  const resource = optionalObjectIn(spec, 'resourceAttributes')
  if (resource === undefined) {
    const attributes = objectIn(spec, 'nonResourceAttributes')
    return {
      question: { user, verb: textIn(attributes, 'verb'), path: textIn(attributes, 'path'), resourcePath: undefined },
      errors: [],
    }
  }
  const [fields, labels] = [
    readSelector(optionalObjectIn(resource, 'fieldSelector'), fieldReader),
    readSelector(optionalObjectIn(resource, 'labelSelector'), labelReader),
  ]
  const text = (key: string): string => textIn(resource, key)
  const place = {
    group: text('group'),
    version: text('version') || '*',
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
  }
  return {
    question: {
      user,
      verb: text('verb'),
      path: '',
      resourcePath: place,
      ...(fields.read.length > 0 && { fields: fields.read }),
      ...(labels.read.length > 0 && { labels: labels.read }),
    },
    errors: [...selectorProblem('fieldSelector', fields), ...selectorProblem('labelSelector', labels)],
  }
}

/** The user that the spec of a review names. */
export function userIn(spec: JsonObject): User {
  const uid = textIn(spec, 'uid')
  const extra = objectIn(spec, 'extra')
  const lists = Object.keys(extra).map((key) => [key, textsIn(extra, key)] as const)
  return {
    name: textIn(spec, 'user'),
    groups: textsIn(spec, 'groups'),
    ...(uid !== '' && { uid }),
    ...(lists.length > 0 && { extra: Object.fromEntries(lists) }),
  }
}

interface SelectorRead<T> {
  readonly read: readonly T[]
  readonly isFaulty: boolean
}

interface RequirementReader<T> {
  parse(text: string): readonly T[]
  /** Undefined when it cannot be read. */
  requirement(requirement: JsonObject): T | undefined
}

function readSelector<T>(selector: JsonObject | undefined, reader: RequirementReader<T>): SelectorRead<T> {
  const requirements = objectsIn(selector, 'requirements')
  if (requirements.length > 0) {
    const all = requirements.map((requirement) => reader.requirement(requirement))
    return { read: all.filter((requirement) => requirement !== undefined), isFaulty: all.includes(undefined) }
  }
  try {
    return { read: reader.parse(textIn(selector, 'rawSelector')), isFaulty: false }
  } catch {
    return { read: [], isFaulty: true }
  }
}

const fieldReader: RequirementReader<FieldRequirement> = {
  parse: parseFieldSelector,
  requirement(requirement) {
    const [operator, [value, ...more]] = [textIn(requirement, 'operator'), textsIn(requirement, 'values')]
    if (value === undefined || more.length > 0 || (operator !== 'In' && operator !== 'NotIn')) return undefined
    return { field: textIn(requirement, 'key'), operator: operator === 'In' ? '=' : '!=', value }
  },
}

const labelOperators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

const labelReader: RequirementReader<LabelRequirement> = {
  parse: parseLabelSelector,
  requirement(requirement) {
    const name = textIn(requirement, 'operator')
    const operator = Object.hasOwn(labelOperators, name) ? labelOperators[name] : undefined
    if (operator === undefined) return undefined
    const read = { key: textIn(requirement, 'key'), operator, values: textsIn(requirement, 'values') }
    return validateLabelRequirement(read).length > 0 ? undefined : read
  },
}

function selectorProblem<T>(name: string, { read, isFaulty }: SelectorRead<T>): string[] {
  return isFaulty
    ? [`spec.resourceAttributes.${name} ${read.length > 0 ? 'partially ' : ''}ignored due to parse error`]
    : []
}
