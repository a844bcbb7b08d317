/**
 * Compiles the CEL expressions of webhooks and policies when the objects are written.
 *
 * The CEL engine is loaded with the first expression: `ready` of the kinds awaits {@link loadExpressionLanguage}.
 */
import { fieldError, loadAdmissionEngine } from 'evenkeel/unstable/builtins'
import type {
  AdmissionCompiler,
  AdmissionExpression,
  AdmissionEngine,
  FieldError,
  FieldPath,
} from 'evenkeel/unstable/builtins'

let language: AdmissionEngine | undefined

/** Loads the CEL engine; must have resolved before the first validation. */
export async function loadExpressionLanguage(): Promise<void> {
  language ??= await loadAdmissionEngine()
}

interface ExpressionsOptions {
  readonly hasParams?: boolean
  /** Whether `variables` is declared even when there are none. */
  readonly hasVariables?: boolean
}

/** Compiles the expressions of one object, in the order of the object. */
export class ExpressionChecker {
  readonly #options: ExpressionsOptions
  readonly #variables: { readonly name: string; readonly text: string }[] = []
  #conditions: AdmissionCompiler | undefined
  #validations: AdmissionCompiler | undefined
  #messages: AdmissionCompiler | undefined
  #patches: AdmissionCompiler | undefined

  constructor(options: ExpressionsOptions = {}) {
    this.#options = options
  }

  /** Match conditions have no variables. */
  condition(text: string, path: FieldPath): FieldError[] {
    this.#conditions ??= loaded().compiler({ hasParams: this.#options.hasParams ?? false })
    return complaints(this.#conditions.compile(text.trim(), { resultTypes: ['bool'] }), path)
  }

  variable(name: string, { text, path }: { text: string; path: FieldPath }): FieldError[] {
    const errors = complaints(this.#validating().define(name, text), path)
    this.#variables.push({ name, text })
    return errors
  }

  validation(text: string, path: FieldPath): FieldError[] {
    return complaints(this.#validating().compile(text, { resultTypes: ['bool'] }), path)
  }

  /** Message expressions cannot use the authorizer. */
  message(text: string, path: FieldPath): FieldError[] {
    this.#messages ??= this.#compiler({ hasAuthorizer: false })
    return complaints(this.#messages.compile(text, { resultTypes: ['string'] }), path)
  }

  annotation(text: string, path: FieldPath): FieldError[] {
    return complaints(this.#validating().compile(text.trim(), { resultTypes: ['string', 'null_type'] }), path, {
      shown: text,
    })
  }

  configuration(text: string, path: FieldPath): FieldError[] {
    return complaints(this.#patching().compile(text.trim(), { resultTypes: ['Object'] }), path)
  }

  patch(text: string, path: FieldPath): FieldError[] {
    return complaints(this.#patching().compile(text.trim(), { resultTypes: ['list(JSONPatch)'] }), path)
  }

  #validating(): AdmissionCompiler {
    return (this.#validations ??= this.#compiler())
  }

  #patching(): AdmissionCompiler {
    return (this.#patches ??= this.#compiler({ hasPatches: true }))
  }

  #compiler(scope: { hasAuthorizer?: boolean; hasPatches?: boolean } = {}): AdmissionCompiler {
    const compiler = loaded().compiler({ ...this.#options, ...scope })
    for (const { name, text } of this.#variables) compiler.define(name, text)
    return compiler
  }
}

function complaints(
  { text, error: mistake }: AdmissionExpression,
  path: FieldPath,
  { shown = text }: { shown?: string } = {},
): FieldError[] {
  if (mistake === undefined) return []
  return [
    mistake.startsWith('program instantiation failed')
      ? fieldError.internal(path, mistake)
      : fieldError.invalid(path, shown, mistake),
  ]
}

/** Throws when {@link loadExpressionLanguage} was not awaited, so that no expression passes unchecked. */
function loaded(): AdmissionEngine {
  if (language === undefined) throw new Error('expressions are to be judged, but their language was never loaded')
  return language
}
