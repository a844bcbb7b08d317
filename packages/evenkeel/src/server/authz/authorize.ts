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
 * Lets an allowed call pass and refuses every other.
 *
 * @throws {ApiError} `Forbidden`, when an authorizer says no or none says yes; `InternalError`, when it cannot be said.
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
  // About a path there are details too, and they are empty.
  throw question.resourcePath
    ? forbidden(forbiddenSubject(question.resourcePath), text)
    : new ApiError('Forbidden', `forbidden: ${text}`, { subject: { kind: '' } })
}

/**
 * Lets a write to something that is not there make it, if the caller may also create it.
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

/** Answers must not look like HTML, whatever is in a path. */
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const narrowed: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

/**
 * What is asked about a request: the request, and what narrows a collection. A list or watch whose selector lets only one
 * name through is about that name; storage reads the same selector and gives nothing else.
 */
function attributesOf(context: RequestContext): AuthorizationAttributes {
  const { user, verb, path, resourcePath: place, query } = context
  // The old way to ask for a watch knows no selectors.
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

// A selector that cannot be read narrows nothing here, and is refused when the request is carried out.
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
