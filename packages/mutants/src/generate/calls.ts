/**
 * Which calls of a right controller have effects: the operators about writes need to know.
 */
import ts from 'typescript'
import { calledIn } from './source.ts'

const clientWrites = /(?:^|\.)client\.(?:apply|create|createOrUpdate|update|patch|patchStatus|delete|addFinalizer)$/
const childWrites = /(?:^|\.)children\.(?:apply|once|none|declare)$/
const statusWrites = /(?:^|\.)status\.(?:set|condition)$/
/** Calls of values, of the context and of verbs: anything else that is awaited is a service. */
const others =
  /(?:^|\.)(?:client|children|status|signal|clock|random|JSON|Math|Date|Number|String|Promise)\.\w+$|\.(?:one|resolve|sync|handle|apply)$|^[a-zA-Z]+$/
const readNames = /\.(?:get|list|find|read|describe|has|is|exists|observe|watch)\w*$/

export function isClientWrite(name: string): boolean {
  return clientWrites.test(name)
}

export function isChildWrite(name: string): boolean {
  return childWrites.test(name)
}

function isStatusWrite(name: string): boolean {
  return statusWrites.test(name)
}

/** A write to an external service. */
function isServiceWrite(name: string): boolean {
  return !others.test(name) && !readNames.test(name)
}

/** A statement of one call with an effect beside the status: `await client.apply(...)`. */
export function isEffect(node: ts.Node): node is ts.ExpressionStatement {
  if (!ts.isExpressionStatement(node)) return false
  const called = calledIn(node.expression)
  if (!called) return false
  if (isClientWrite(called.name) || isChildWrite(called.name)) return true
  return ts.isAwaitExpression(node.expression) && isServiceWrite(called.name)
}

/** `status.set(...)` or `status.condition(...)`, as a statement. */
export function isStatusStatement(node: ts.Node): node is ts.ExpressionStatement {
  if (!ts.isExpressionStatement(node)) return false
  const called = calledIn(node.expression)
  return called !== undefined && isStatusWrite(called.name)
}

/** A read that another run may see differently: of the cluster or of a service. */
export function isRead(node: ts.Node): node is ts.AwaitExpression {
  if (!ts.isAwaitExpression(node)) return false
  const called = calledIn(node)
  return called !== undefined && readNames.test(called.name)
}
