/**
 * The authorization stage: whether the user of a request may do it.
 *
 * It runs before the body is read, so an unauthorized client never makes the server parse anything. The authorizers
 * are in `authorizer.ts`.
 */
import {
  ApiError,
  checkPathSegmentName,
  exactFieldValue,
  forbidden,
  parseFieldSelector,
  parseLabelSelector,
  quote,
  type FieldRequirement,
  type LabelRequirement,
  type Subject,
} from '#api'
import type { Query } from '#wire'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import type { AuthorizationAttributes, AuthorizerChain } from './authorizer.ts'

/**
 * Passes an authorized request and refuses every other.
 *
 * @throws {ApiError} `Forbidden`, when an authorizer denies it or none allows it; `InternalError`, when the decision
 *   fails.
 */
export async function authorize(context: RequestContext, authorizer: AuthorizerChain): Promise<void> {
  await requireAllowed(attributesOf(context), authorizer)
}

/**
 * Refuses attributes that are not allowed, for stages that check more than the request itself.
 *
 * @throws {ApiError} as {@link authorize}
 */
export async function requireAllowed(question: AuthorizationAttributes, authorizer: AuthorizerChain): Promise<void> {
  const asked = authorizer.decide(question)
  const { allowed, reason: why, error } = asked instanceof Promise ? await asked : asked
  if (allowed) return
  if (error !== undefined)
    throw new ApiError('InternalError', `Internal Server Error: ${quote(question.path)}: ${error}`)
  const what = describeAttributes(question).replace(/[&<>]/g, (character) => escapes[character] ?? character)
  const text = why === '' ? what : `${what}: ${why}`
  // An error about a path has empty details.
  throw question.resourcePath
    ? forbidden(forbiddenSubject(question.resourcePath), text)
    : new ApiError('Forbidden', `forbidden: ${text}`, { subject: { kind: '' } })
}

/**
 * Allows an update to create a missing object if the user may also create it.
 *
 * @throws {ApiError} as {@link authorize}
 */
export async function authorizeCreation(
  { user, path }: RequestContext,
  { resource: { group, version, plural }, namespace, name }: ResourceRef,
  authorizer: AuthorizerChain,
): Promise<void> {
  await requireAllowed(
    {
      user,
      verb: 'create',
      path,
      resourcePath: { group, version, resource: plural, subresource: '', namespace, name },
    },
    authorizer,
  )
}

/** Responses must not contain HTML, whatever the path contains. */
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const narrowed: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

/**
 * The attributes of a request, with the selectors of a collection. A list or watch whose field selector matches a
 * single name has that name; storage uses the same selector, so it returns no other object.
 */
function attributesOf(context: RequestContext): AuthorizationAttributes {
  const { user, verb, path, resourcePath: place, query } = context
  // The deprecated watch path takes no selectors.
  if (
    place === undefined ||
    place.watch ||
    !narrowed.has(verb) ||
    !(query.has('fieldSelector') || query.has('labelSelector'))
  )
    return context
  const [fields, labels] = [fieldsOf(query), labelsOf(query)]
  const selected = verb === 'deletecollection' ? '' : (exactFieldValue(fields, 'metadata.name') ?? '')
  const name = place.name === '' && checkPathSegmentName(selected).length === 0 ? selected : place.name
  return { user, verb, path, resourcePath: { ...place, name }, fields, labels }
}

// An unreadable selector does not restrict the attributes; the handler refuses it later.
function fieldsOf(query: Query): readonly FieldRequirement[] {
  try {
    return parseFieldSelector(query.get('fieldSelector') ?? '')
  } catch {
    return []
  }
}

function labelsOf(query: Query): readonly LabelRequirement[] {
  try {
    return parseLabelSelector(query.get('labelSelector') ?? '')
  } catch {
    return []
  }
}

function forbiddenSubject({ group, resource, name }: NonNullable<AuthorizationAttributes['resourcePath']>): Subject {
  return { kind: resource, ...(group && { group }), ...(name && { name }) }
}

function describeAttributes({ user, verb, resourcePath: place, path }: AuthorizationAttributes): string {
  const who = `User ${quote(user.name)} cannot ${verb}`
  if (place === undefined) return `${who} path ${quote(path)}`
  const what = place.subresource === '' ? place.resource : `${place.resource}/${place.subresource}`
  const where = place.namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(place.namespace)}`
  return `${who} resource ${quote(what)} in API group ${quote(place.group)} ${where}`
}
