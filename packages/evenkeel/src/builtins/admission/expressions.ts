/**
 * Whether expressions of webhooks and policies compile, judged when they are written.
 *
 * The language is loaded with the first expression: `ready` of the kinds waits for {@link loadExpressionLanguage}.
 */
import { fieldError, loadAdmissionEngine } from '#api'
import type { AdmissionCompiler, AdmissionExpression, AdmissionEngine, FieldError, FieldPath } from '#api'

let language: AdmissionEngine | undefined

/** Makes expressions work; must have resolved before any is judged. */
export async function loadExpressionLanguage(): Promise<void> {
  language ??= await loadAdmissionEngine()
}

interface ExpressionsOptions {
  readonly hasParams?: boolean
  /** Whether `variables` is known even when there are none. */
  readonly hasVariables?: boolean
}

/** The expressions of one object, to be judged in the order in which they stand there. */
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

  /** Conditions see no variables. */
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

  /** Messages may not ask who may do what. */
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

/** Expressions must not pass because somebody forgot {@link loadExpressionLanguage}. */
function loaded(): AdmissionEngine {
  if (language === undefined) throw new Error('expressions are to be judged, but their language was never loaded')
  return language
}
