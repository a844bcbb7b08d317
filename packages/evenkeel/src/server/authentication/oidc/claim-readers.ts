/**
 * How the parts of a user are read out of claims: by name, or by expressions, which are compiled here once.
 */
import { getOwn, loadClaimsLanguage } from '#api'
import type { ClaimsExpression, JsonObject, JsonValue } from '#api'
import type { OidcIssuer, OidcRule, OidcValue } from './oidc-issuer.ts'

/** Reads one part; undefined when it is not there. */
export type ReadValue = (
  claims: JsonObject,
) => { readonly value?: JsonValue | undefined; readonly error?: undefined } | { readonly error: string }

export interface Rule {
  readonly holds: ClaimsExpression
  readonly message: string
}

export interface ClaimReaders {
  readonly username: ReadValue
  readonly groups: ReadValue | undefined
  readonly uid: ReadValue | undefined
  readonly extra: readonly (readonly [key: string, read: ReadValue])[]
  readonly claimRules: readonly Rule[]
  readonly userRules: readonly Rule[]
}

/** @throws {RangeError} for an expression that is none, and for one that makes a name of an address nobody has verified. */
export async function claimReaders(issuer: OidcIssuer): Promise<ClaimReaders> {
  const { username = { claim: 'sub' }, groups, uid, extra = {}, claimRules = [], userRules = [] } = issuer
  checkEmail(issuer)
  const rules = (all: readonly OidcRule[], about: 'claims' | 'user'): Promise<Rule[]> =>
    Promise.all(
      all.map(async ({ expression, message = expression }) => {
        return { holds: (await loadClaimsLanguage()).compile(expression, { about, isRule: true }), message }
      }),
    )
  return {
    username: await reader(username),
    groups: groups && (await reader(groups)),
    uid: uid && (await reader(uid)),
    extra: await Promise.all(Object.entries(extra).map(async ([key, value]) => [key, await reader(value)] as const)),
    claimRules: await rules(claimRules, 'claims'),
    userRules: await rules(userRules, 'user'),
  }
}

async function reader({ claim, expression }: OidcValue): Promise<ReadValue> {
  if (claim !== undefined) return (claims) => ({ value: getOwn(claims, claim) })
  const compiled = (await loadClaimsLanguage()).compile(expression, { about: 'claims' })
  return (claims) => compiled.evaluate(claims)
}

/** Who makes a name of the address must have looked whether it was verified. */
function checkEmail({ username, extra = {}, claimRules = [] }: OidcIssuer): void {
  const expression = username?.expression
  if (expression === undefined || !/\bclaims\.email\b/.test(expression)) return
  const all = [
    expression,
    ...Object.values(extra).map((value) => value.expression ?? ''),
    ...claimRules.map((rule) => rule.expression),
  ]
  if (!all.some((text) => /\bclaims\.\??email_verified\b/.test(text)))
    throw new RangeError(
      'claims.email_verified must be used in the username expression, in extra or in a claim rule when claims.email is the username',
    )
}
