/**
 * From what a token says to a user.
 *
 * Invariant: no issuer outside can make one of ours. Names that begin with `system:` belong to this server; a token
 * whose user would have one is refused, and groups that have one are left out.
 */
import { getOwn, setOwn } from '#api'
import type { JsonObject, JsonValue } from '#api'
import type { User } from '../../call.ts'
import type { RejectedToken } from '../bearer/token.ts'
import { userInfo } from '../person.ts'
import type { ClaimReaders, ClaimReader, CompiledClaimRule } from './claim-readers.ts'
import type { OidcIssuer } from './oidc-issuer.ts'

/** The user that verified claims are about, or why there is none. */
export function userOfClaims(
  claims: JsonObject,
  { issuer, readers }: { issuer: OidcIssuer; readers: ClaimReaders },
): User | RejectedToken {
  try {
    const missing = Object.entries(issuer.requiredClaims ?? {}).find(
      ([claim, value]) => getOwn(claims, claim) !== value,
    )
    if (missing) return rejectedClaims(`required claim ${missing[0]} not present or not of the required value`)
    checkRules(readers.claimValidationRules, claims)
    const uid = textOf(readers.uid, claims)
    const user = {
      name: nameOf(claims, { issuer, readers }),
      groups: groupsOf(claims, { issuer, readers }),
      ...(uid !== '' && { uid }),
      ...extraOf(claims, readers),
    }
    checkRules(readers.userValidationRules, { uid: '', groups: [], extra: {}, ...userInfo(user) })
    return user
  } catch (error) {
    if (error instanceof ClaimsError) return rejectedClaims(error.message)
    throw error
  }
}

/** What is wrong with the claims of a token. */
class ClaimsError extends Error {
  override readonly name = 'ClaimsError'
}

function checkRules(rules: readonly CompiledClaimRule[], variable: JsonObject): void {
  for (const { holds, message } of rules) {
    const { value, error } = holds.evaluate(variable)
    if (error !== undefined || value !== true)
      throw new ClaimsError(`validation expression '${holds.text}' failed: ${error ?? message}`)
  }
}

function nameOf(
  claims: JsonObject,
  { issuer: { url, username }, readers }: { issuer: OidcIssuer; readers: ClaimReaders },
): string {
  const { claim, prefix } = { claim: username ? username.claim : 'sub', prefix: username?.prefix }
  const found = textOf(readers.username, claims)
  if (found === '')
    throw new ClaimsError(
      claim === undefined
        ? 'the username expression gave no text'
        : `parse username claims ${JSON.stringify(claim)}: claim not present`,
    )
  if (claim === 'email' && getOwn(claims, 'email_verified') !== undefined && getOwn(claims, 'email_verified') !== true)
    throw new ClaimsError('email not verified')
  const usual = claim === 'email' || claim === undefined ? '' : `${url}#`
  const name = `${prefix ?? usual}${found}`
  if (isReserved(name)) throw new ClaimsError(`username ${JSON.stringify(name)} is reserved`)
  return name
}

function groupsOf(
  claims: JsonObject,
  { issuer: { groups }, readers }: { issuer: OidcIssuer; readers: ClaimReaders },
): string[] {
  return textsOf(valueOf(readers.groups, claims))
    .map((name) => `${groups?.prefix ?? ''}${name}`)
    .filter((name) => !isReserved(name))
}

function isReserved(name: string): boolean {
  return name.startsWith('system:')
}

function extraOf(claims: JsonObject, { extra }: ClaimReaders): Pick<User, 'extra'> {
  const made: Record<string, string[]> = {}
  for (const [key, read] of extra) {
    const values = textsOf(valueOf(read, claims))
    if (values.length > 0) setOwn(made, key, values)
  }
  return Object.keys(made).length > 0 ? { extra: made } : {}
}

function textOf(read: ClaimReader | undefined, claims: JsonObject): string {
  const value = valueOf(read, claims)
  return typeof value === 'string' ? value : ''
}

function valueOf(read: ClaimReader | undefined, claims: JsonObject): JsonValue | undefined {
  const found = read?.(claims)
  if (found?.error !== undefined) throw new ClaimsError(found.error)
  return found?.value
}

/** One text may stand alone. */
function textsOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && one !== '') : []
}

function rejectedClaims(why: string): RejectedToken {
  return { error: `oidc: ${why}` }
}
