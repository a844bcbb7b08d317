/**
 * The door to expressions of admission: match conditions of webhooks, and policies. The language is large and most
 * servers never meet an expression, so it is loaded when the first one is there; until then only these types are known.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { Schema } from '../schema/schema.ts'

/** What the language can do for admission. */
export interface AdmissionEngine {
  /** A compiler for the expressions of one webhook or policy. */
  compiler(scope?: AdmissionScope): AdmissionCompiler
  /** What an expression of an apply configuration made. */
  configurationOf(value: unknown): JsonResult<JsonObject>
  /** What an expression of a JSON patch made. */
  patchOf(value: unknown): JsonResult<readonly JsonObject[]>
  /** What is wrong with the expressions of a validating policy, given the schemas of what it is about. */
  typeWarnings(spec: JsonObject, types: PolicyTypes): readonly TypeWarning[]
}

/** What the value of an expression is as JSON, or why it is nothing of the kind. */
export type JsonResult<T> = { readonly json: T; readonly error?: undefined } | { readonly error: string }

/** What a policy is about. */
export interface PolicyTypes {
  readonly objects: readonly { /** `apps/v1, Kind=Deployment` */ readonly name: string; readonly schema: Schema }[]
  /** Absent when nobody knows. */
  readonly params?: Schema | undefined
}

export interface TypeWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** Which variables there are beside `object`, `oldObject`, `request` and `namespaceObject`. */
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
   * `Object`, `JSONPatch` and what else mutating policies make changes with.
   *
   * @default false
   */
  readonly hasPatches?: boolean
}

export interface AdmissionCompiler {
  /**
   * Makes `variables.name` known to what is compiled from now on. It is evaluated when it is first used, once per
   * evaluation. One that does not compile is known all the same, and an error to whoever uses it.
   */
  define(name: string, text: string): AdmissionExpression
  compile(text: string, options?: AdmissionCompileOptions): AdmissionExpression
  /** Begins to evaluate expressions of this compiler for one request. */
  start(input: AdmissionInput, options?: { budget?: number }): AdmissionEvaluation
}

export interface AdmissionCompileOptions {
  /**
   * What it may give, by the names of types: `bool`, `string`, `null_type`, `list(string)`.
   *
   * @default anything
   */
  readonly resultTypes?: readonly string[]
}

/** An expression that was compiled, or what is wrong with it. */
export interface AdmissionExpression {
  readonly text: string
  /** What it gives, as messages name it. */
  readonly type: string
  /** What is wrong with it, as upstream says it; undefined when it can be evaluated. */
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
  /** Whom `authorizer` asks about. */
  readonly user?: AdmissionUser | undefined
  readonly authorize?: AuthorizeFunction | undefined
}

export interface AdmissionUser {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Whether a user may do something: a verb on a path, or on a resource. */
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

/** Asks; may throw or reject when there is no answer. */
export type AuthorizeFunction = (check: AuthorizerCheck) => AuthorizerDecision | Promise<AuthorizerDecision>

export interface AdmissionEvaluation {
  /** What is left to spend. */
  readonly budget: number
  /** The answer comes at once unless somebody has to be asked who takes time. */
  evaluate(expression: AdmissionExpression): AdmissionResult | Promise<AdmissionResult>
}

/** What an expression gives: a value (texts, truth values and numbers are themselves), an error, or no budget is left. */
export type AdmissionResult =
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly error: string; readonly isExhausted: boolean }

/** What all match conditions of one webhook or policy may cost together for one request. */
export const matchConditionsCostMax = 2_500_000

/** Loads the language; every call gives the same. */
export function loadAdmissionEngine(): Promise<AdmissionEngine> {
  return (loading ??= load())
}

// Asking for a module again is no small thing: it happens with every write that a policy is about.
let loading: Promise<AdmissionEngine> | undefined

async function load(): Promise<AdmissionEngine> {
  return (await import('./compiler.ts')).admissionEngine
}
