/**
 * Operators on effects: what is written, in which order, and what happens when a write fails.
 */
import ts from 'typescript'
import { isChildWrite, isClientWrite, isEffect, isStatusStatement } from './calls.ts'
import { calledIn, contextPart, handlerOf, objectOf } from './source.ts'
import type { Mutation, Source } from './source.ts'

function isBlockOf(node: ts.Node): node is ts.Block {
  return ts.isBlock(node)
}

function awaits(node: ts.Node): boolean {
  if (ts.isFunctionLike(node)) return false
  return ts.isAwaitExpression(node) || (ts.forEachChild(node, (child) => awaits(child) || undefined) ?? false)
}

/** `await client.apply(a)` is left out. */
export function dropWrite(source: Source): Mutation[] {
  return source.all(isEffect).map((at) => ({ at, edits: [source.replace(at, ';')] }))
}

/** `await client.apply(a)` becomes `void client.apply(a)`. */
export function dropAwait(source: Source): Mutation[] {
  return source.all(ts.isAwaitExpression).map((at) => ({
    at,
    edits: [source.replace(at, `${ts.isExpressionStatement(at.parent) ? 'void ' : ''}${source.textOf(at.expression)}`)],
  }))
}

/** Two statements of a block, both of which await, in the other order. */
export function reorder(source: Source): Mutation[] {
  return source.all(isBlockOf).flatMap(({ statements }) =>
    statements.flatMap((at, index) => {
      const next = statements[index + 1]
      if (!next || ts.isReturnStatement(next) || !awaits(at) || !awaits(next)) return []
      return [{ at, edits: [source.replace(at, source.textOf(next)), source.replace(next, source.textOf(at))] }]
    }),
  )
}

/** An effect in `try { … } catch {}`. */
export function swallowError(source: Source): Mutation[] {
  return source
    .all(isEffect)
    .map((at) => ({ at, edits: [source.replace(at, `try { ${source.textOf(at)} } catch {}`)] }))
}

/** `catch (error) { if (!isNotFound(error)) throw error }` ignores every error. */
export function swallowOthers(source: Source): Mutation[] {
  return source.all(ts.isCatchClause).map((at) => ({ at, edits: [source.replace(at.block, '{}')] }))
}

/** `try { a } catch { … }` becomes `a`: an expected error fails the run. */
export function dropTolerance(source: Source): Mutation[] {
  return [
    ...source.all(ts.isTryStatement).map((at) => ({ at, edits: [source.replace(at, source.textOf(at.tryBlock))] })),
    ...optionsNamed(source, 'ignoreNotFound'),
  ]
}

/** `preconditions` or `resourceVersion` is left out. */
export function dropPrecondition(source: Source): Mutation[] {
  return [...optionsNamed(source, 'preconditions'), ...optionsNamed(source, 'resourceVersion')]
}

function optionsNamed(source: Source, name: string): Mutation[] {
  return source.nodes
    .filter(
      (node) =>
        (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) && node.name.getText() === name,
    )
    .map((at) => ({ at, edits: [source.removeElement(at)] }))
}

/** `client.apply(a, { force: true })` becomes `client.create(a)`: it exists after the first run. */
export function createOnly(source: Source): Mutation[] {
  return clientCalls(source, 'apply').map((at) => ({
    at,
    edits: [
      source.replace(
        at,
        `${objectCalled(at)}.create(${at.arguments
          .slice(0, 1)
          .map((one) => source.textOf(one))
          .join()})`,
      ),
    ],
  }))
}

/** `client.apply(a)` deletes `a` first. */
export function recreate(source: Source): Mutation[] {
  return clientCalls(source, 'apply').flatMap((at) => {
    const [object] = at.arguments
    if (!object || !ts.isAwaitExpression(at.parent)) return []
    const text = `(await ${objectCalled(at)}.delete(${source.textOf(object)}, { ignoreNotFound: true }), ${source.textOf(at.parent)})`
    return [{ at, edits: [source.replace(at.parent, source.asStatement(at.parent, text))] }]
  })
}

/** `client.apply(a, { force: true })` without `force`. */
export function dropForce(source: Source): Mutation[] {
  return optionsNamed(source, 'force')
}

/** `client.update(a)` becomes a merge patch without a version. */
export function patchForUpdate(source: Source): Mutation[] {
  return clientCalls(source, 'update').flatMap((at) => {
    const [object] = at.arguments
    if (!object) return []
    const text = source.textOf(object)
    const patch = `(({ metadata: { resourceVersion: _, ...metadata }, ...rest }: any) => ({ ...rest, metadata }))(${text})`
    return [{ at, edits: [source.replace(at, `${objectCalled(at)}.patch(${text}, ${patch})`)] }]
  })
}

function clientCalls(source: Source, method: string): readonly ts.CallExpression[] {
  return source
    .all(ts.isCallExpression)
    .filter(({ expression }) => isClientWrite(expression.getText()) && expression.getText().endsWith(`.${method}`))
}

function objectCalled({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.expression.getText() : 'client'
}

/** The status is written before the work: `await client.patchStatus(object, …)` in front of the first effect. */
export function statusFirst(source: Source): Mutation[] {
  return source.all(isStatusStatement).flatMap((at) => {
    const handler = handlerOf(at)
    const object = handler && objectOf(handler)
    const first = handler?.body?.statements.find((statement) => awaits(statement) && !ts.isVariableStatement(statement))
    const argument = statusArgument(at)
    if (!handler || object === undefined || !first || argument === undefined || first.pos >= at.pos) return []
    const client = contextPart(source, handler, 'client')
    const write = `await ${client.text}.patchStatus(${object}, ${argument});\n`
    return [{ at, edits: [...client.edits, source.insertBefore(first, write)] }]
  })
}

/** `status.set(a)` becomes `await client.patchStatus(object, a)`: no observedGeneration. */
export function rawStatus(source: Source): Mutation[] {
  return source.all(isStatusStatement).flatMap((at) => {
    const handler = handlerOf(at)
    const object = handler && objectOf(handler)
    const argument = statusArgument(at)
    if (!handler || object === undefined || argument === undefined || !isAsync(handler)) return []
    const client = contextPart(source, handler, 'client')
    return [
      { at, edits: [...client.edits, source.replace(at, `await ${client.text}.patchStatus(${object}, ${argument})`)] },
    ]
  })
}

function isAsync({ modifiers }: ts.MethodDeclaration): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false
}

function statusArgument({ expression }: ts.ExpressionStatement): string | undefined {
  const called = calledIn(expression)
  return called?.name.endsWith('.set') === true ? called.call.arguments[0]?.getText() : undefined
}

/** `status.set(…)` or `status.condition(…)` is left out. */
export function dropStatus(source: Source): Mutation[] {
  return source.all(isStatusStatement).map((at) => ({ at, edits: [source.replace(at, ';')] }))
}

/** Old children stay: the loop that deletes them is left out, or `children` does not prune. */
export function dropPrune(source: Source): Mutation[] {
  const loops = source
    .all(ts.isForOfStatement)
    .filter((loop) => /\.(?:delete|remove)\(/.test(loop.statement.getText()))
    .map((at) => ({ at, edits: [source.replace(at, ';')] }))
  const children = source
    .all(ts.isCallExpression)
    .filter(({ expression, arguments: given }) => isChildWrite(expression.getText()) && given.length === 2)
    .filter(({ expression }) => expression.getText().endsWith('.apply'))
    .flatMap((at) => {
      const last = at.arguments.at(-1)
      return last ? [{ at, edits: [{ start: last.end, end: last.end, text: ', { prune: false }' }] }] : []
    })
  return [...loops, ...children]
}

/** `for (const a of list)` takes only the first one. */
export function firstOnly(source: Source): Mutation[] {
  return source.all(ts.isForOfStatement).map((at) => ({
    at,
    edits: [source.replace(at.expression, `[...${source.textOf(at.expression)}].slice(0, 1)`)],
  }))
}
