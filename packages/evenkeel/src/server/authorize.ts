/**
 * Room 4: may this caller do this?
 *
 * Before: `authenticate` said who is calling. After: `decode` reads the body, so a caller who may not write never
 * makes us parse anything. Authorizers are asked in turn; the first that has an opinion decides, and without one the
 * answer is no.
 */
import { forbidden } from '#api'
import type { Subject } from '#api'
import type { Call } from './call.ts'

interface Verdict {
  readonly allowed: boolean
  readonly why: string
}

/** Says yes or no, or undefined when it has no opinion. */
export type Authorizer = (call: Call) => Verdict | undefined | Promise<Verdict | undefined>

/**
 * Lets an allowed call pass and refuses every other.
 *
 * @throws {ApiError} `Forbidden`, when an authorizer says no or none says yes.
 */
export async function authorize(call: Call, authorizers: readonly Authorizer[]): Promise<void> {
  let why = ''
  for (const authorizer of authorizers) {
    const asked = authorizer(call)
    const verdict = asked instanceof Promise ? await asked : asked
    if (verdict?.allowed) return
    if (verdict) {
      why = verdict.why
      break
    }
  }
  throw forbidden(subjectOf(call), why === '' ? describe(call) : `${describe(call)}: ${why}`)
}

/** Every caller that authenticated may do everything; the health paths are for everybody. */
export const allowAuthenticated: Authorizer = ({ user, place }) => {
  if (user.groups.includes('system:authenticated') || place === undefined) return { allowed: true, why: '' }
  return undefined
}

function subjectOf({ place }: Call): Subject | undefined {
  return place && { kind: place.resource, ...place.group && { group: place.group }, ...place.name && { name: place.name } }
}

function describe({ user, verb, place, path }: Call): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`
  if (place === undefined) return `${who} path ${JSON.stringify(path)}`
  const what = place.subresource === '' ? place.resource : `${place.resource}/${place.subresource}`
  const where = place.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(place.namespace)}`
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(place.group)} ${where}`
}
