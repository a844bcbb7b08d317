/**
 * How an OpenID issuer is described: what its tokens must say, and which of their words make a user.
 */
export interface OidcIssuer {
  /** As tokens name it: an https address. Keys are found through `/.well-known/openid-configuration` below it. */
  readonly url: string
  /**
   * Where that document really is.
   *
   * @default below the issuer's address
   */
  readonly discoveryUrl?: string
  /**
   * The authorities to trust, in PEM.
   *
   * @default those that Node trusts
   */
  readonly caPem?: string
  /** Tokens must be for one of these: the id of the client that people log in with. */
  readonly audiences: readonly [string, ...string[]]
  /** @default { claim: 'sub' } */
  readonly username?: OidcPrefixedClaim
  /** @default none */
  readonly groups?: OidcPrefixedClaim
  /**
   * The user's uid.
   *
   * @default none
   */
  readonly uid?: OidcClaimOrExpression
  /**
   * What is kept as the user's extra, by the key it is kept under (`example.com/tenant`).
   *
   * @default none
   */
  readonly extra?: Readonly<Record<string, OidcClaimOrExpression>>
  /**
   * Claims that a token must have, with exactly this value.
   *
   * @default none
   */
  readonly requiredClaims?: Readonly<Record<string, string>>
  /**
   * What must be true of `claims`.
   *
   * @default none
   */
  readonly claimValidationRules?: readonly OidcValidationRule[]
  /**
   * What must be true of `user` (`username`, `uid`, `groups`, `extra`).
   *
   * @default none
   */
  readonly userValidationRules?: readonly OidcValidationRule[]
  /**
   * What tokens may be signed with: `RS256`, `ES256`, …
   *
   * @default all that there are, none of which is `none` or a shared secret
   */
  readonly algorithms?: readonly string[]
}

/** A claim as it is, or what an expression makes of all `claims`. */
export type OidcClaimOrExpression =
  | { readonly claim: string; readonly expression?: undefined }
  | { readonly expression: string; readonly claim?: undefined }

export type OidcPrefixedClaim = OidcClaimOrExpression & {
  /**
   * Put before each name that comes from a claim, so that nobody can be called what somebody here is called.
   *
   * @default the address of the issuer and `#` for users, unless the claim is `email`; nothing for groups
   */
  readonly prefix?: string
}

/** An expression in CEL that must give true. */
export interface OidcValidationRule {
  readonly expression: string
  /**
   * What is said when it does not.
   *
   * @default the expression
   */
  readonly message?: string
}
