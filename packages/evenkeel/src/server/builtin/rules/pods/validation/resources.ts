/**
 * What a container asks for and is limited to: known names, whole amounts where they must be, no request above its limit.
 */
import { compareQuantities, fieldError, formatQuantity } from '#api'
import type { FieldError, FieldPath, JsonObject } from '#api'
import { quantityFrom, validateQuantity } from '../../quantities.ts'
import { objectIn } from '../../reading.ts'
import { isHugePages, mayOvercommit, validateContainerResourceName } from '../../resource-names.ts'

export function validateContainerResources(resources: JsonObject, path: FieldPath): FieldError[] {
  const [limits, requests] = [objectIn(resources, 'limits'), objectIn(resources, 'requests')]
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  const errors = [
    ...validateNames(limits, path.child('limits')),
    ...validateNames(requests, path.child('requests')),
    ...validateAgainstLimits(requests, limits, path),
  ]
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory')) {
    errors.push(fieldError.forbidden(path, 'HugePages require cpu or memory'))
  }
  return errors
}

function validateNames(amounts: JsonObject, path: FieldPath): FieldError[] {
  return Object.entries(amounts).flatMap(([name, value]) => [
    ...validateContainerResourceName(name, path.key(name)),
    ...validateQuantity(name, value, path.key(name)),
  ])
}

function validateAgainstLimits(requests: JsonObject, limits: JsonObject, path: FieldPath): FieldError[] {
  return Object.entries(requests).flatMap(([name, value]) => {
    const [request, limit] = [quantityFrom(value), Object.hasOwn(limits, name) ? quantityFrom(limits[name]) : undefined]
    if (request === undefined) return []
    if (limit === undefined) {
      return mayOvercommit(name)
        ? []
        : [fieldError.required(path.child('limits'), 'Limit must be set for non overcommitable resources')]
    }
    const order = compareQuantities(request, limit)
    if (order === 0 || (order < 0 && mayOvercommit(name))) return []
    const relation = mayOvercommit(name) ? 'less than or equal to' : 'equal to'
    return [
      fieldError.invalid(
        path.child('requests'),
        formatQuantity(request),
        `must be ${relation} ${name} limit of ${formatQuantity(limit)}`,
      ),
    ]
  })
}
