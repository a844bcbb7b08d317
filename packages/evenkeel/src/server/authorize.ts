/**
 * Room 4: may this caller do this?
 *
 * Before: `authenticate` said who is calling. After: `decode` reads the body, so a caller who may not write never
 * makes us parse anything. Who decides is said in `access/access.ts`.
 */
import { forbidden } from '#api'
import type { Subject } from '#api'
import type { Access, AccessQuestion } from './access/access.ts'

/**
 * Lets an allowed call pass and refuses every other.
 *
 * @throws {ApiError} `Forbidden`, when an authorizer says no or none says yes.
 */
export async function authorize(question: AccessQuestion, access: Access): Promise<void> {
  const asked = access.decide(question)
  const { allowed, why } = asked instanceof Promise ? await asked : asked
  if (allowed) return
  throw forbidden(subjectOf(question), why === '' ? describe(question) : `${describe(question)}: ${why}`)
}

function subjectOf({ place }: AccessQuestion): Subject | undefined {
  return place && { kind: place.resource, ...place.group && { group: place.group }, ...place.name && { name: place.name } }
}

function describe({ user, verb, place, path }: AccessQuestion): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`
  if (place === undefined) return `${who} path ${JSON.stringify(path)}`
  const what = place.subresource === '' ? place.resource : `${place.resource}/${place.subresource}`
  const where = place.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(place.namespace)}`
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(place.group)} ${where}`
}
