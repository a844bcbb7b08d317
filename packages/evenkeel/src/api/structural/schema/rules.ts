/**
 * Rules about `x-kubernetes-validations`, apart from the expressions: those are compiled by whoever has the language.
 */
import { fieldError } from '../../error/field-error.ts'
import type { FieldError } from '../../error/field-error.ts'
import type { FieldPath } from '../../error/field-path.ts'
import type { JsonObject } from '../../json.ts'
import { followReference } from './field-reference.ts'
import type { JsonSchemaProps } from './properties.ts'
import { findForeignKeyword } from './structural.ts'

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

export function checkRuleFields(schema: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const at = path.child('x-kubernetes-validations').index(index)
    checkTexts(rule, at, errors)
    const { reason } = rule
    if (typeof reason === 'string' && !reasons.includes(reason))
      errors.push(fieldError.notSupported(at.child('reason'), reason, reasons))
    checkFieldPath(schema, textOf(rule, 'fieldPath'), { path: at.child('fieldPath'), errors })
  }
}

function checkTexts(rule: JsonObject, path: FieldPath, errors: FieldError[]): void {
  const [expression, message, messageExpression] = [
    textOf(rule, 'rule'),
    textOf(rule, 'message'),
    textOf(rule, 'messageExpression'),
  ]
  const at = path.child('message')
  if (isBlank(expression)) errors.push(fieldError.required(path.child('rule'), 'rule is not specified'))
  else if (message !== '' && isBlank(message))
    errors.push(fieldError.invalid(at, message, 'must be non-empty if specified'))
  else if (hasLines(message.trim())) errors.push(fieldError.invalid(at, message, 'must not contain line breaks'))
  else if (hasLines(expression.trim()) && isBlank(message))
    errors.push(fieldError.required(at, 'message must be specified if rule contains line breaks'))
  if (messageExpression !== '' && isBlank(messageExpression)) {
    errors.push(
      fieldError.required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'),
    )
  }
}

function checkFieldPath(
  schema: JsonSchemaProps,
  fieldPath: string,
  { path, errors }: { path: FieldPath; errors: FieldError[] },
): void {
  if (fieldPath === '') return
  if (isBlank(fieldPath)) errors.push(fieldError.invalid(path, fieldPath, 'must be non-empty if specified'))
  if (hasLines(fieldPath)) errors.push(fieldError.invalid(path, fieldPath, 'must not contain line breaks'))
  if (findForeignKeyword(schema) === undefined && typeof followReference(fieldPath, schema) === 'string') {
    errors.push(fieldError.invalid(path, fieldPath, 'must be a valid path'))
  }
}

function textOf(rule: JsonObject, key: string): string {
  const value = rule[key]
  return typeof value === 'string' ? value : ''
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function hasLines(text: string): boolean {
  return /[\n\r]/.test(text)
}
