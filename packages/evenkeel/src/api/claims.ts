/**
 * The door to expressions about claims: what the token of an OpenID issuer says, and the user that is made of it; and
 * about any object, for rules that people write down as text. The language is loaded when somebody has such an expression.
 */
import type { JsonObject, JsonValue } from '@evenkeel/cel/primitives'

export interface ClaimsEngine {
  /** @throws {RangeError} when it is no expression, or does not give what it should. */
  compile(text: string, options: ClaimsCompileOptions): ClaimsExpression
}

export interface ClaimsCompileOptions {
  /** The variable there is: `claims` or `object`, which may hold anything, or `user` with `username`, `uid`, `groups` and `extra`. */
  readonly variable: 'claims' | 'user' | 'object'
  /**
   * Whether it must be certain to give a truth value.
   *
   * @default false
   */
  readonly isRule?: boolean
}

export interface ClaimsExpression {
  readonly text: string
  evaluate(variable: JsonObject): ClaimsResult
}

export type ClaimsResult =
  | { readonly value: JsonValue; readonly error?: undefined }
  | { readonly error: string; readonly value?: undefined }

/** Loads the language; every call gives the same. */
export async function loadClaimsEngine(): Promise<ClaimsEngine> {
  return (await import('./claims-compiler.ts')).claimsEngine
}
