/**
 * Access reviews: what a user may do, one action or all rules in a namespace.
 *
 * They use the authorizer of the request pipeline, so a review always agrees with the decision about a real request. A
 * review is about a resource or about a path, never both. A selector requirement that cannot be parsed, or has an
 * unknown operator, is dropped: that makes the review broader, never narrower, and a newer client may know more
 * operators.
 */
import {
  errorsOfEach,
  badRequest,
  checkLabelValue,
  checkQualifiedName,
  fieldError,
  FieldPath,
  invalid,
  objectIn,
  objectsIn,
  optionalObjectIn,
  parseFieldSelector,
  parseLabelSelector,
  textIn,
  textsIn,
  validateLabelRequirement,
  valueIn,
  type FieldError,
  type FieldRequirement,
  type JsonObject,
  type LabelOperator,
  type LabelRequirement,
} from '#api'
import { toRuleObject, type ObjectDraft } from '@evenkeel/builtins'
import type { RequestContext, ResourceRef, User } from '../request-context.ts'
import { formatErrors, type AuthorizationAttributes, type AuthorizerChain } from './authorizer.ts'

interface AccessReviewContext {
  readonly context: RequestContext
  readonly target: ResourceRef
  readonly authorizer: AuthorizerChain
}

/**
 * The status of a SubjectAccessReview, LocalSubjectAccessReview or SelfSubjectAccessReview.
 *
 * @throws {ApiError} `Invalid` or `BadRequest`
 */
export async function accessStatus(
  review: ObjectDraft,
  {
    context,
    target: {
      resource: { kind, group },
      namespace,
    },
    authorizer,
  }: AccessReviewContext,
): Promise<JsonObject> {
  dropEmptyMetadata(review)
  if (kind === 'LocalSubjectAccessReview') completeReviewNamespace(review, namespace)
  else delete review.metadata['namespace']
  const errors = validateAccessReview(review, kind)
  if (errors.length > 0) throw invalid({ group, kind: '', name: '' }, errors)
  const spec = objectIn(review, 'spec')
  const { question, errors: ignored } = attributesIn(
    spec,
    kind === 'SelfSubjectAccessReview' ? context.user : userIn(spec),
  )
  const { allowed, noOpinion: undecided, reason: why, error } = await authorizer.decide(question)
  const evaluationError = [...(error === undefined ? [] : [error]), ...ignored].join('; ')
  return {
    allowed,
    ...(!allowed && !undecided && { denied: true }),
    ...(why !== '' && { reason: why }),
    ...(evaluationError !== '' && { evaluationError }),
  }
}

/** An empty text is the same as none. */
function dropEmptyMetadata({ metadata }: ObjectDraft): void {
  for (const [name, value] of Object.entries(metadata)) if (value === '') Reflect.deleteProperty(metadata, name)
}

function completeReviewNamespace({ metadata }: ObjectDraft, namespace: string): void {
  const given = metadata['namespace'] ?? ''
  if (given !== '' && given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  metadata['namespace'] = namespace
}

/**
 * The status of a SelfSubjectRulesReview.
 *
 * @throws {ApiError} `BadRequest`, when it names no namespace
 */
export function rulesStatus(review: ObjectDraft, { context: { user }, authorizer }: AccessReviewContext): JsonObject {
  const namespace = textIn(objectIn(review, 'spec'), 'namespace')
  if (namespace === '') throw badRequest('no namespace on request')
  const { rules, incomplete, errors } = authorizer.rulesFor(user, namespace)
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map((rule) => toRuleObject({ ...rule, nonResourceURLs: [] })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] })),
    incomplete,
    ...(errors.length > 0 && { evaluationError: formatErrors(errors) }),
  }
}

// The attributes in the spec of a review, and its parse errors.

interface ReviewedAttributes {
  readonly question: AuthorizationAttributes
  /** Selectors that were ignored, at least in part. */
  readonly errors: readonly string[]
}

/** The attributes of a review about a user. */
function attributesIn(spec: JsonObject, user: User): ReviewedAttributes {
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
function userIn(spec: JsonObject): User {
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

// Validation of a review, before any authorizer runs.

const specPath = FieldPath.of('spec')

/** For the three reviews about a single action. */
function validateAccessReview(review: ObjectDraft, kind: string): FieldError[] {
  const spec = objectIn(review, 'spec')
  const [resource, path] = [
    optionalObjectIn(spec, 'resourceAttributes'),
    optionalObjectIn(spec, 'nonResourceAttributes'),
  ]
  const errors: FieldError[] = []
  if (resource && path)
    errors.push(
      fieldError.invalid(
        specPath.child('nonResourceAttributes'),
        shownPath(path),
        'cannot be specified in combination with resourceAttributes',
      ),
    )
  if (!resource && !path)
    errors.push(
      fieldError.invalid(
        specPath.child('resourceAttributes'),
        null,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    )
  if (kind !== 'SelfSubjectAccessReview' && textIn(spec, 'user') === '' && textsIn(spec, 'groups').length === 0) {
    errors.push(fieldError.invalid(specPath.child('user'), '', 'at least one of user or group must be specified'))
  }
  return [
    ...errors,
    ...validateSelectors(resource),
    ...validateMetadata(review, kind),
    ...(kind === 'LocalSubjectAccessReview' ? validateLocal(review, { resource, path }) : []),
  ]
}

function validateMetadata({ metadata }: ObjectDraft, kind: string): FieldError[] {
  const isLocal = kind === 'LocalSubjectAccessReview'
  const ignored = ['managedFields', 'creationTimestamp', ...(isLocal ? ['namespace'] : [])]
  if (Object.keys(metadata).every((name) => ignored.includes(name))) return []
  return [
    fieldError.invalid(
      FieldPath.of('metadata'),
      metadata,
      isLocal ? 'must be empty except for namespace' : 'must be empty',
    ),
  ]
}

function validateLocal(
  { metadata }: ObjectDraft,
  { resource, path }: { resource: JsonObject | undefined; path: JsonObject | undefined },
): FieldError[] {
  const errors: FieldError[] = []
  const namespace = textIn(resource, 'namespace')
  if (resource && namespace !== metadata['namespace'])
    errors.push(
      fieldError.invalid(
        specPath.child('resourceAttributes').child('namespace'),
        namespace,
        'must match metadata.namespace',
      ),
    )
  if (path)
    errors.push(
      fieldError.invalid(
        specPath.child('nonResourceAttributes'),
        shownPath(path),
        'disallowed on this kind of request',
      ),
    )
  return errors
}

// Upstream shows its internal form, in which fields have other names.
function shownPath(path: JsonObject): JsonObject {
  return { Path: textIn(path, 'path'), Verb: textIn(path, 'verb') }
}

function validateSelectors(resource: JsonObject | undefined): FieldError[] {
  const at = specPath.child('resourceAttributes')
  return [
    ...validateSelector(optionalObjectIn(resource, 'fieldSelector'), at.child('fieldSelector'), validateFieldKey),
    ...validateSelector(optionalObjectIn(resource, 'labelSelector'), at.child('labelSelector'), validateLabel),
  ]
}

type ValidateKey = (requirement: JsonObject, path: FieldPath) => { before: FieldError[]; after: FieldError[] }

function validateSelector(selector: JsonObject | undefined, path: FieldPath, validateKey: ValidateKey): FieldError[] {
  if (selector === undefined) return []
  const [raw, requirements] = [textIn(selector, 'rawSelector'), objectsIn(selector, 'requirements')]
  const errors: FieldError[] = []
  if (raw !== '' && requirements.length > 0)
    errors.push(
      fieldError.invalid(path.child('rawSelector'), raw, 'may not specified at the same time as requirements'),
    )
  if (raw === '' && requirements.length === 0)
    errors.push(
      fieldError.required(
        path.child('requirements'),
        `when ${path.toString()} is specified, requirements or rawSelector is required`,
      ),
    )
  return [
    ...errors,
    ...errorsOfEach(requirements, (requirement, index) => {
      const here = path.child('requirements').index(index)
      const { before, after } = validateKey(requirement, here)
      return [...before, ...validateValues(requirement, here), ...after]
    }),
  ]
}

function validateValues(requirement: JsonObject, path: FieldPath): FieldError[] {
  const [operator, values] = [textIn(requirement, 'operator'), textsIn(requirement, 'values')]
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    return [fieldError.required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")]
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    return [
      fieldError.forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    ]
  return []
}

const validateFieldKey: ValidateKey = (requirement, path) => ({
  before: textIn(requirement, 'key') === '' ? [fieldError.required(path.child('key'), 'must be specified')] : [],
  after: [],
})

const validateLabel: ValidateKey = (requirement, path) => {
  const key = textIn(requirement, 'key')
  const mistakes = checkQualifiedName(key).map((text) => fieldError.invalid(path.child('key'), key, text))
  const values = errorsOfEach(textsIn(requirement, 'values'), (value, index) =>
    checkLabelValue(value).map((text) =>
      fieldError.invalid(path.child('values').index(index), valueIn({ value }, 'value'), text),
    ),
  )
  return { before: [], after: [...mistakes, ...values] }
}
