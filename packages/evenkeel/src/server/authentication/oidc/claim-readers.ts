/**
 * How the parts of a user are read out of claims: by name, or by expressions, which are compiled here once.
 */
import { getOwn, loadClaimsEngine } from '#api'
import type { ClaimsExpression, JsonObject, JsonValue } from '#api'
import type { OidcIssuer, OidcValidationRule, OidcClaimOrExpression } from './oidc-issuer.ts'

/** Reads one part; undefined when it is not there. */
export type ClaimReader = (
  claims: JsonObject,
) => { readonly value?: JsonValue | undefined; readonly error?: undefined } | { readonly error: string }

export interface CompiledClaimRule {
  readonly holds: ClaimsExpression
  readonly message: string
}

export interface ClaimReaders {
  readonly username: ClaimReader
  readonly groups: ClaimReader | undefined
  readonly uid: ClaimReader | undefined
  readonly extra: readonly (readonly [key: string, read: ClaimReader])[]
  readonly claimValidationRules: readonly CompiledClaimRule[]
  readonly userValidationRules: readonly CompiledClaimRule[]
}

/** @throws {RangeError} for an expression that is none, and for one that makes a name of an address nobody has verified. */
export async function claimReaders(issuer: OidcIssuer): Promise<ClaimReaders> {
  const {
    username = { claim: 'sub' },
    groups,
    uid,
    extra = {},
    claimValidationRules: claimRules = [],
    userValidationRules: userRules = [],
  } = issuer
  checkEmail(issuer)
  const rules = (all: readonly OidcValidationRule[], about: 'claims' | 'user'): Promise<CompiledClaimRule[]> =>
    Promise.all(
      all.map(async ({ expression, message = expression }) => {
        return { holds: (await loadClaimsEngine()).compile(expression, { variable: about, isRule: true }), message }
      }),
    )
  return {
    username: await makeReader(username),
    groups: groups && (await makeReader(groups)),
    uid: uid && (await makeReader(uid)),
    extra: await Promise.all(
      Object.entries(extra).map(async ([key, value]) => [key, await makeReader(value)] as const),
    ),
    claimValidationRules: await rules(claimRules, 'claims'),
    userValidationRules: await rules(userRules, 'user'),
  }
}

async function makeReader({ claim, expression }: OidcClaimOrExpression): Promise<ClaimReader> {
  if (claim !== undefined) return (claims) => ({ value: getOwn(claims, claim) })
  const compiled = (await loadClaimsEngine()).compile(expression, { variable: 'claims' })
  return (claims) => compiled.evaluate(claims)
}

/** Who makes a name of the address must have looked whether it was verified. */
function checkEmail({ username, extra = {}, claimValidationRules: claimRules = [] }: OidcIssuer): void {
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
