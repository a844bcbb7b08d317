/**
 * Compiles the CEL expressions of one webhook or policy, and evaluates them for one request.
 *
 * A variable can use the variables defined before it. Its value is computed at its first use, once per evaluation. The
 * cost counts against the budget of the expression that uses the variable; each expression has a limit of its own
 * besides. The results of mutating policies are converted to JSON.
 *
 * {@link admissionEngine} contains every function that needs CEL, so that `loadAdmissionEngine` can load it on demand.
 */
import {
  CompiledExpression,
  compileExpression,
  dynType,
  EvaluationError,
  formatType,
  ListValue,
  MapValue,
  misplacedParts,
  objectType,
  ObjectValue,
  PatchValue,
  toJson,
  type CompileFailure,
  type Environment,
  type Evaluation,
  type Type,
  type Value,
} from '@evenkeel/cel'
import { getOwn, isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { objectCostMax } from '../rules/rules.ts'
import { authorizerBindings, PendingDecision } from './authorizer.ts'
import { admissionEnvironment, typeWarnings } from './environment.ts'
import type {
  AdmissionCompileOptions,
  AdmissionCompiler,
  AdmissionEngine,
  AdmissionEvaluation,
  AdmissionExpression,
  AdmissionInput,
  AdmissionResult,
  AdmissionScope,
  JsonResult,
  ResourceAttributes,
} from './expressions.ts'

/** An expression with its compiled form. */
export interface CompiledAdmissionExpression extends AdmissionExpression {
  readonly expression: CompiledExpression | undefined
}

export class AdmissionExpressionCompiler implements AdmissionCompiler {
  readonly #base: Environment
  readonly #variables = new Map<string, CompiledAdmissionExpression>()
  #environment: Environment

  constructor({ hasVariables = false, ...scope }: AdmissionScope = {}) {
    this.#base = admissionEnvironment(scope)
    this.#environment = this.#base
    if (hasVariables) this.#declareVariables()
  }

  define(name: string, text: string): AdmissionExpression {
    const compiled = this.compile(text)
    this.#variables.set(name, compiled)
    this.#declareVariables()
    return compiled
  }

  compile(text: string, { resultTypes: gives }: AdmissionCompileOptions = {}): CompiledAdmissionExpression {
    // At run time every typed value is plain JSON: the declared types cannot be trusted.
    const found = compileExpression(text, this.#environment, { trustsTypes: false })
    if (!(found instanceof CompiledExpression))
      return { text, type: 'dyn', error: describeFailure(found), expression: undefined }
    const type = typeName(found.type)
    const mistake = gives === undefined || gives.includes(type) ? undefined : describeMismatch(gives, type)
    return { text, type, error: mistake, expression: mistake === undefined ? found : undefined }
  }

  start(input: AdmissionInput, { budget = objectCostMax }: { budget?: number } = {}): AdmissionEvaluation {
    return new AdmissionExpressionEvaluation(bindingsOf(input), { variables: this.#variables, budget })
  }

  #declareVariables(): void {
    const fields = new Map(
      [...this.#variables].map(([name, { expression }]): [string, Type] => [name, fieldType(expression?.type)]),
    )
    this.#environment = this.#base.extend({ variables: { type: objectType('kubernetes.variables', fields) } })
  }
}

class AdmissionExpressionEvaluation implements AdmissionEvaluation {
  budget: number
  readonly #bindings: Readonly<Record<string, unknown>>
  readonly #variables: VariableValues

  constructor(
    bindings: Readonly<Record<string, unknown>>,
    { variables, budget }: { variables: ReadonlyMap<string, CompiledAdmissionExpression>; budget: number },
  ) {
    this.budget = budget
    this.#variables = new VariableValues(variables, () => this.#bindings)
    this.#bindings = { ...bindings, variables: this.#variables }
  }

  evaluate(expression: AdmissionExpression): AdmissionResult | Promise<AdmissionResult> {
    try {
      return this.#evaluateNow(expression as CompiledAdmissionExpression)
    } catch (error) {
      if (!(error instanceof PendingDecision)) throw error
      return error.answer.then(() => this.evaluate(expression))
    }
  }

  #evaluateNow({ text, error: mistake, expression }: CompiledAdmissionExpression): AdmissionResult {
    if (expression === undefined) return { error: `compilation error: ${mistake ?? ''}`, isExhausted: false }
    const result = expression.evaluate(this.#bindings)
    const cost = result.cost + this.#variables.takeCost()
    if (cost > this.budget) {
      this.budget = 0
      return { error: overBudget, isExhausted: true }
    }
    this.budget -= cost
    return resultOf(result, text)
  }
}

const overBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

function resultOf(result: Evaluation, text: string): AdmissionResult {
  if (result.error === undefined) return { value: result.value }
  return { error: `expression '${text}' resulted in error: ${result.error}`, isExhausted: false }
}

function bindingsOf({
  object,
  oldObject,
  request,
  namespaceObject,
  params,
  user,
  authorize: ask,
}: AdmissionInput): Readonly<Record<string, unknown>> {
  return {
    object: object ?? null,
    oldObject: oldObject ?? null,
    request,
    namespaceObject: namespaceObject ?? null,
    params: params ?? null,
    ...(user && ask && authorizerBindings(user, requestAttributes(request), ask)),
  }
}

/** The attributes of the request itself: `authorizer.requestResource`. */
function requestAttributes(request: JsonObject): ResourceAttributes {
  const resource = getOwn(request, 'requestResource')
  const named = isJsonObject(resource) ? resource : {}
  return {
    group: textOf(named['group']),
    version: '*',
    resource: textOf(named['resource']),
    subresource: textOf(request['requestSubResource']),
    namespace: textOf(request['namespace']),
    name: textOf(request['name']),
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function describeFailure({ stage, errors }: CompileFailure): string {
  return stage === 'compilation' ? `compilation failed: ${errors}` : `program instantiation failed: ${errors}`
}

function describeMismatch(wanted: readonly string[], type: string): string {
  return wanted.length === 1
    ? `must evaluate to ${wanted[0] ?? ''} but got ${type}`
    : `must evaluate to one of [${wanted.join(' ')}] but got ${type}`
}

function typeName(type: Type): string {
  return type.kind === 'null' ? 'null_type' : formatType(type)
}

const plainKinds: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
  'list',
  'map',
])

/** Variables of library types have the type dyn. */
function fieldType(type: Type | undefined): Type {
  if (type === undefined || !plainKinds.has(type.kind)) return dynType
  return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(fieldType) }
}

// The `variables` of a policy, as a map of lazily computed values.

export class VariableValues extends MapValue {
  readonly #variables: ReadonlyMap<string, CompiledAdmissionExpression>
  readonly #bindings: () => Readonly<Record<string, unknown>>
  readonly #known = new Map<string, Value>()
  #cost = 0

  constructor(
    variables: ReadonlyMap<string, CompiledAdmissionExpression>,
    bindings: () => Readonly<Record<string, unknown>>,
  ) {
    super()
    this.#variables = variables
    this.#bindings = bindings
  }

  get size(): number {
    return this.#variables.size
  }

  keys(): readonly Value[] {
    return [...this.#variables.keys()]
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const variable = this.#variables.get(key)
    if (variable === undefined) return undefined
    const value = this.#evaluate(key, variable)
    this.#known.set(key, value)
    return value
  }

  /** The cost of variables since the last call. */
  takeCost(): number {
    const cost = this.#cost
    this.#cost = 0
    return cost
  }

  #evaluate(name: string, { expression, error: mistake }: CompiledAdmissionExpression): Value {
    if (expression === undefined)
      return new EvaluationError(`composited variable ${JSON.stringify(name)} fails to compile: ${mistake ?? ''}`)
    const result = expression.evaluate(this.#bindings())
    this.#cost += result.cost
    return result.error === undefined
      ? result.value
      : new EvaluationError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${result.error}`)
  }
}

// Results of mutating policies, as JSON.

export function configurationOf(value: unknown): JsonResult<JsonObject> {
  if (!(value instanceof ObjectValue)) return { error: 'unsupported return type from ApplyConfiguration expression' }
  const mistakes = misplacedParts(value)
  if (mistakes.length > 0) return { error: `type mismatch: ${mistakes.join('\n')}` }
  const json = toJson(value)
  return json instanceof EvaluationError
    ? { error: `invalid return type: ${json.message}` }
    : { json: json as JsonObject }
}

export function patchOf(value: unknown): JsonResult<readonly JsonObject[]> {
  if (!(value instanceof ListValue))
    return { error: 'type mismatch: JSONPatchType.expression should evaluate to array' }
  const operations: JsonObject[] = []
  for (const item of value.values()) {
    const made = operationOf(item)
    if (made.error !== undefined) return made
    operations.push(made.json)
  }
  return { json: operations }
}

function operationOf(item: Value): JsonResult<JsonObject> {
  if (!(item instanceof PatchValue))
    return { error: 'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch' }
  const operation: Record<string, JsonValue> = { op: stringField(item, 'op'), path: stringField(item, 'path') }
  if (stringField(item, 'from') !== '') operation['from'] = stringField(item, 'from')
  const value = item.fields.get('value')
  if (value === undefined) return { json: operation }
  const mistakes = value instanceof ObjectValue ? misplacedParts(value) : []
  if (mistakes.length > 0) return { error: `type mismatch: ${mistakes.join('\n')}` }
  const json = toJson(value)
  if (json instanceof EvaluationError)
    return { error: `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${json.message}` }
  operation['value'] = json
  return { json: operation }
}

function stringField({ fields }: PatchValue, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value : ''
}

// The admission engine.

export const admissionEngine: AdmissionEngine = {
  compiler: (scope) => new AdmissionExpressionCompiler(scope),
  configurationOf,
  patchOf,
  typeWarnings,
}
