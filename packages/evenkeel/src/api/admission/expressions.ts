/**
 * The types of CEL in admission (match conditions of webhooks, and policies), and the loader of the engine.
 *
 * CEL is large and most servers have no such expression, so it is loaded with the first one. This file does not import
 * it.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { Schema } from '../schema/schema.ts'

/** The functions of CEL for admission. */
export interface AdmissionEngine {
  /** A compiler for the expressions of one webhook or policy. */
  compiler(scope?: AdmissionScope): AdmissionCompiler
  /** The result of an apply configuration expression. */
  configurationOf(value: unknown): JsonResult<JsonObject>
  /** The result of a JSON patch expression. */
  patchOf(value: unknown): JsonResult<readonly JsonObject[]>
  /** The type errors in a validating policy, given the schemas of its resources. */
  typeWarnings(spec: JsonObject, types: PolicyTypes): readonly TypeWarning[]
}

/** The value of an expression as JSON, or the reason why it has no JSON form. */
export type JsonResult<T> = { readonly json: T; readonly error?: undefined } | { readonly error: string }

/** The schemas of the resources and parameters of a policy. */
export interface PolicyTypes {
  readonly objects: readonly { /** `apps/v1, Kind=Deployment` */ readonly name: string; readonly schema: Schema }[]
  /** Absent when the schema is unknown. */
  readonly params?: Schema | undefined
}

export interface TypeWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** The variables beside `object`, `oldObject`, `request` and `namespaceObject`. */
export interface AdmissionScope {
  /**
   * `params`.
   *
   * @default false
   */
  readonly hasParams?: boolean
  /**
   * `authorizer` and `authorizer.requestResource`.
   *
   * @default true
   */
  readonly hasAuthorizer?: boolean
  /**
   * `variables`, even while none is defined.
   *
   * @default false
   */
  readonly hasVariables?: boolean
  /**
   * `Object`, `JSONPatch` and the other types of mutating policies.
   *
   * @default false
   */
  readonly hasPatches?: boolean
}

export interface AdmissionCompiler {
  /**
   * Defines `variables.name` for the expressions compiled afterwards. It is evaluated at its first use, once per
   * evaluation. A variable that does not compile is defined as well: expressions that use it fail.
   */
  define(name: string, text: string): AdmissionExpression
  compile(text: string, options?: AdmissionCompileOptions): AdmissionExpression
  /** Starts the evaluation of expressions of this compiler for one request. */
  start(input: AdmissionInput, options?: { budget?: number }): AdmissionEvaluation
}

export interface AdmissionCompileOptions {
  /**
   * The allowed result types, by name: `bool`, `string`, `null_type`, `list(string)`.
   *
   * @default anything
   */
  readonly resultTypes?: readonly string[]
}

/** A compiled expression, or its error. */
export interface AdmissionExpression {
  readonly text: string
  /** The result type, as messages name it. */
  readonly type: string
  /** The error, with the text of upstream; undefined when the expression can be evaluated. */
  readonly error: string | undefined
}

/** The values of the variables for one request; absent objects are null to expressions. */
export interface AdmissionInput {
  readonly object?: JsonObject | undefined
  readonly oldObject?: JsonObject | undefined
  /** An AdmissionRequest without its uid and its objects. */
  readonly request: JsonObject
  readonly namespaceObject?: JsonObject | undefined
  readonly params?: JsonObject | undefined
  /** The user that `authorizer` checks. */
  readonly user?: AdmissionUser | undefined
  readonly authorize?: AuthorizeFunction | undefined
}

export interface AdmissionUser {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** An authorization check: may a user perform a verb on a path, or on a resource? */
export interface AuthorizerCheck {
  readonly user: AdmissionUser
  readonly verb: string
  readonly path: string
  readonly resourcePath: ResourceAttributes | undefined
}

export interface ResourceAttributes {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

interface AuthorizerDecision {
  readonly allowed: boolean
  readonly reason: string
}

/** Decides; may throw or reject when there is no decision. */
export type AuthorizeFunction = (check: AuthorizerCheck) => AuthorizerDecision | Promise<AuthorizerDecision>

export interface AdmissionEvaluation {
  /** The remaining budget. */
  readonly budget: number
  /** Synchronous, unless an authorizer is asynchronous. */
  evaluate(expression: AdmissionExpression): AdmissionResult | Promise<AdmissionResult>
}

/**
 * The result of an expression: a value (strings, booleans and numbers as they are), an error, or an exhausted budget.
 */
export type AdmissionResult =
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly error: string; readonly isExhausted: boolean }

/** The cost limit of all match conditions of one webhook or policy for one request. */
export const matchConditionsCostMax = 2_500_000

/** Loads CEL; every call returns the same engine. */
export function loadAdmissionEngine(): Promise<AdmissionEngine> {
  return (loading ??= load())
}

// Cached, because a repeated import is slow and every write that matches a policy needs the engine.
let loading: Promise<AdmissionEngine> | undefined

async function load(): Promise<AdmissionEngine> {
  return (await import('./compiler.ts')).admissionEngine
}
