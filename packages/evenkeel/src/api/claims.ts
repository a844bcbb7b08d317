/**
 * The types of CEL expressions about the claims of an OpenID Connect token, about the user derived from them, and about
 * objects, and the loader of the engine.
 *
 * CEL is loaded with the first such expression. This file does not import it.
 */
import type { JsonObject, JsonValue } from '@evenkeel/cel/primitives'

export interface ClaimsEngine {
  /** @throws {RangeError} when the text is not an expression, or has the wrong result type. */
  compile(text: string, options: ClaimsCompileOptions): ClaimsExpression
}

export interface ClaimsCompileOptions {
  /** The variable: `claims` or `object` of any type, or `user` with `username`, `uid`, `groups` and `extra`. */
  readonly variable: 'claims' | 'user' | 'object'
  /**
   * Whether the result type must be bool.
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

/** Loads CEL; every call returns the same engine. */
export async function loadClaimsEngine(): Promise<ClaimsEngine> {
  return (await import('./claims-compiler.ts')).claimsEngine
}
