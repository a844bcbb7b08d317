/**
 * LimitRanges: defaults for containers (limit from max, request from limit or min), and
 * consistency of min, max, defaults and ratio.
 */
import {
  errorsOfEach,
  compareQuantities,
  fieldError,
  FieldPath,
  formatQuantity,
  objectIn,
  objectsIn,
  quantityAsNumber,
  quantityOf,
  textIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type Quantity,
} from 'evenkeel/unstable/builtins'
import { draftIn, draftsIn } from '../defaulting.ts'
import {
  canonicalizeQuantities,
  fillQuantities,
  mayOvercommit,
  quantityFrom,
  validateContainerResourceName,
  validateResourceName,
} from '../resource-quantities.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { requireQualifiedName } from '../validation.ts'

const parts = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const
const limitsPath = FieldPath.of('spec', 'limits')

export const limitRangeStrategy: StrategyHooks = {
  default(object) {
    const spec = draftIn(object, 'spec')
    if (spec !== undefined) draftsIn(spec, 'limits').forEach(defaultItem)
  },
  validate(object) {
    const seen = new Set<string>()
    return errorsOfEach(objectsIn(objectIn(object, 'spec'), 'limits'), (item, index) => {
      const [path, type] = [limitsPath.index(index), textIn(item, 'type')]
      const duplicate = seen.has(type) ? [fieldError.duplicate(path.child('type'), type)] : []
      seen.add(type)
      return [...validateType(type, path.child('type')), ...duplicate, ...validateItem(item, path)]
    })
  },
}

function defaultItem(item: JsonObjectDraft): void {
  for (const part of parts) canonicalizeQuantities(item, part)
  if (item['type'] !== 'Container') return
  fillQuantities(item, 'default', objectIn(item, 'max'))
  fillQuantities(item, 'defaultRequest', objectIn(item, 'default'))
  fillQuantities(item, 'defaultRequest', objectIn(item, 'min'))
  for (const part of ['default', 'defaultRequest'])
    if (Object.keys(objectIn(item, part)).length === 0) delete item[part]
}

function validateType(type: string, path: FieldPath): FieldError[] {
  const errors = requireQualifiedName(type, path)
  if (errors.length > 0 || type.includes('/') || ['Pod', 'Container', 'PersistentVolumeClaim'].includes(type))
    return errors
  return [fieldError.invalid(path, type, 'must be a standard limit type or fully qualified')]
}

function validateItem(item: JsonObject, path: FieldPath): FieldError[] {
  const type = textIn(item, 'type')
  const checkName = type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName
  const used = parts.filter((part) => type !== 'Pod' || !part.startsWith('default'))
  const errors = errorsOfEach(used, (part) =>
    errorsOfEach(Object.keys(objectIn(item, part)), (name) => checkName(name, path.child(part).key(name))),
  )
  for (const part of ['default', 'defaultRequest']) {
    if (type === 'Pod' && Object.keys(objectIn(item, part)).length > 0) {
      errors.push(fieldError.forbidden(path.child(part), "may not be specified when `type` is 'Pod'"))
    }
  }
  if (
    type === 'PersistentVolumeClaim' &&
    !['min', 'max'].some((part) => Object.hasOwn(objectIn(item, part), 'storage'))
  ) {
    errors.push(
      fieldError.required(
        path.child('limits'),
        'either minimum or maximum storage value is required, but neither was provided',
      ),
    )
  }
  const names = new Set(used.flatMap((part) => Object.keys(objectIn(item, part))))
  return [...errors, ...errorsOfEach([...names], (name) => validateResource(item, name, path))]
}

type Amounts = Readonly<Record<(typeof parts)[number], Quantity | undefined>>

function validateResource(item: JsonObject, name: string, path: FieldPath): FieldError[] {
  const isPod = textIn(item, 'type') === 'Pod'
  const amount = (part: string): Quantity | undefined => {
    const amounts = objectIn(item, part)
    return (isPod && part.startsWith('default')) || !Object.hasOwn(amounts, name)
      ? undefined
      : quantityFrom(amounts[name])
  }
  const amounts = Object.fromEntries(parts.map((part) => [part, amount(part)])) as Amounts
  return [
    ...validateOrder(amounts, name, path),
    ...validateRatio(amounts, name, path),
    ...validateOvercommit(amounts, name, path),
  ]
}

const orders: readonly {
  low: keyof Amounts
  high: keyof Amounts
  at: keyof Amounts
  shown: keyof Amounts
  words: readonly [string, string]
}[] = [
  { low: 'min', high: 'max', at: 'min', shown: 'min', words: ['min value', 'max value'] },
  {
    low: 'min',
    high: 'defaultRequest',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    words: ['min value', 'default request value'],
  },
  {
    low: 'defaultRequest',
    high: 'max',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    words: ['default request value', 'max value'],
  },
  {
    low: 'defaultRequest',
    high: 'default',
    at: 'defaultRequest',
    shown: 'defaultRequest',
    words: ['default request value', 'default limit value'],
  },
  { low: 'min', high: 'default', at: 'default', shown: 'min', words: ['min value', 'default value'] },
  { low: 'default', high: 'max', at: 'default', shown: 'max', words: ['default value', 'max value'] },
]

function validateOrder(amounts: Amounts, name: string, path: FieldPath): FieldError[] {
  return errorsOfEach(orders, ({ low, high, at, shown, words }) => {
    const [less, more, value] = [amounts[low], amounts[high], amounts[shown]]
    if (less === undefined || more === undefined || value === undefined || compareQuantities(less, more) <= 0) return []
    const detail = `${words[0]} ${formatQuantity(less)} is greater than ${words[1]} ${formatQuantity(more)}`
    return [fieldError.invalid(path.child(at).key(name), formatQuantity(value), detail)]
  })
}

function validateRatio(
  { maxLimitRequestRatio: ratio, min, max }: Amounts,
  name: string,
  path: FieldPath,
): FieldError[] {
  if (ratio === undefined) return []
  const [here, text] = [path.child('maxLimitRequestRatio').key(name), formatQuantity(ratio)]
  const errors =
    compareQuantities(ratio, quantityOf(1)) < 0 ? [fieldError.invalid(here, text, `ratio ${text} is less than 1`)] : []
  if (min === undefined || max === undefined) return errors
  const limit = quantityAsNumber(max) / quantityAsNumber(min)
  if (quantityAsNumber(ratio) > limit)
    errors.push(fieldError.invalid(here, text, `ratio ${text} is greater than max/min = ${limit.toFixed(6)}`))
  return errors
}

function validateOvercommit(
  { default: limit, defaultRequest: request }: Amounts,
  name: string,
  path: FieldPath,
): FieldError[] {
  if (mayOvercommit(name) || limit === undefined || request === undefined || compareQuantities(limit, request) === 0)
    return []
  const [limitText, requestText] = [formatQuantity(limit), formatQuantity(request)]
  const detail = `default value ${limitText} must equal to defaultRequest value ${requestText} in ${name}`
  return [fieldError.invalid(path.child('defaultRequest').key(name), requestText, detail)]
}
