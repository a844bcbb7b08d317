/**
 * Operators on names, owners and the things that a controller declares.
 */
import ts from 'typescript'
import { contextPart, handlerOf } from './source.ts'
import type { Mutation, Source } from './source.ts'

/** `setControllerReference(owner, object)` becomes `object`. */
export function dropOwnerReference(source: Source): Mutation[] {
  return source
    .all(ts.isCallExpression)
    .filter(({ expression }) => expression.getText() === 'setControllerReference')
    .flatMap((at) => {
      const object = at.arguments[1]
      return object ? [{ at, edits: [source.replace(at, source.textOf(object))] }] : []
    })
}

/** `isOwnedBy(a, b)` is true: what only looks like a child is taken for one. */
export function ignoreOwner(source: Source): Mutation[] {
  return source
    .all(ts.isCallExpression)
    .filter(({ expression }) => expression.getText() === 'isOwnedBy')
    .map((at) => ({ at, edits: [source.replace(at, '(true as boolean)')] }))
}

function elementsOf(source: Source, name: string): readonly ts.Expression[] {
  return source
    .all(ts.isPropertyAssignment)
    .filter((property) => property.name.getText() === name)
    .flatMap(({ initializer }) => (ts.isArrayLiteralExpression(initializer) ? [...initializer.elements] : []))
}

/** A kind is left out of `owns`. */
export function dropOwns(source: Source): Mutation[] {
  return elementsOf(source, 'owns').map((at) => ({ at, edits: [source.removeElement(at)] }))
}

/** A watch is left out. */
export function dropWatch(source: Source): Mutation[] {
  return elementsOf(source, 'watches').map((at) => ({ at, edits: [source.removeElement(at)] }))
}

/** The keys of a watch lose the first condition of their filter, or their namespace. */
export function wrongMapping(source: Source): Mutation[] {
  return source
    .all(ts.isPropertyAssignment)
    .filter(({ name }) => name.getText() === 'map')
    .flatMap(({ initializer }) =>
      namespacesIn(initializer).map((at) => ({ at, edits: [source.replace(at, "namespace: 'elsewhere'")] })),
    )
}

function namespacesIn(node: ts.Node): ts.Node[] {
  if (
    (ts.isShorthandPropertyAssignment(node) || ts.isPropertyAssignment(node)) &&
    node.name.getText() === 'namespace' &&
    !ts.isObjectBindingPattern(node.parent)
  )
    return [node]
  const found: ts.Node[] = []
  ts.forEachChild(node, (child) => {
    found.push(...namespacesIn(child))
  })
  return found
}

/** `cleanup`, or one of its steps, is left out. */
export function dropCleanup(source: Source): Mutation[] {
  const methods = source
    .all(ts.isMethodDeclaration)
    .filter(({ name, parent }) => name.getText() === 'cleanup' && !hasFinalizer(parent))
  return [...methods, ...elementsOf(source, 'cleanup')].map((at) => ({ at, edits: [source.removeElement(at)] }))
}

function hasFinalizer(node: ts.Node): boolean {
  return ts.isObjectLiteralExpression(node) && node.properties.some((one) => one.name?.getText() === 'finalizer')
}

/** `addFinalizer(a, f)` or `removeFinalizer(a, f)` becomes `a`. */
export function dropFinalizer(source: Source): Mutation[] {
  return source
    .all(ts.isCallExpression)
    .filter(({ expression }) => /^(?:add|remove)Finalizer$/.test(expression.getText()))
    .flatMap((at) => {
      const [object] = at.arguments
      return object ? [{ at, edits: [source.replace(at, source.textOf(object))] }] : []
    })
}

/** The steps of a cleanup, or the verbs, in the other order. */
export function reorderSteps(source: Source): Mutation[] {
  return ['cleanup', 'verbs'].flatMap((name) => {
    // The verbs of a permission are texts, and have no order.
    const [first, second] = elementsOf(source, name).filter((element) => !ts.isStringLiteral(element))
    if (!first || !second) return []
    return [
      {
        at: first,
        edits: [source.replace(first, source.textOf(second)), source.replace(second, source.textOf(first))],
      },
    ]
  })
}

/** A rule of `rbac` is left out. */
export function dropPermission(source: Source): Mutation[] {
  return elementsOf(source, 'rbac').map((at) => ({ at, edits: [source.removeElement(at)] }))
}

/** A name loses a part: `${name}-menu` becomes `x-menu`. */
export function nameLosesPart(source: Source): Mutation[] {
  return source
    .all(ts.isTemplateExpression)
    .filter((template) => handlerOf(template) !== undefined)
    .flatMap((template) =>
      template.templateSpans.map(({ expression }) => ({
        at: expression,
        edits: [source.replace(expression, "'x'")],
      })),
    )
}

/** A child is in the namespace `default`, whatever the namespace of its owner. */
export function fixedNamespace(source: Source): Mutation[] {
  return source
    .all(ts.isShorthandPropertyAssignment)
    .filter((at) => at.name.text === 'namespace' && handlerOf(at) !== undefined)
    .map((at) => ({ at, edits: [source.replace(at, "namespace: 'default'")] }))
}

/** A name gets a random part. */
export function randomName(source: Source): Mutation[] {
  return source.all(ts.isPropertyAssignment).flatMap((at) => {
    const handler = handlerOf(at)
    if (at.name.getText() !== 'name' || !handler || !isMetadata(at.parent)) return []
    const random = contextPart(source, handler, 'random')
    const text = `\`\${${source.textOf(at.initializer)}}-\${${random.text}.uint32()}\``
    return [{ at, edits: [...random.edits, source.replace(at.initializer, text)] }]
  })
}

/** `metadata: { name }`, or a variable that is called like that. */
function isMetadata({ parent }: ts.Node): boolean {
  return (
    (ts.isPropertyAssignment(parent) || ts.isVariableDeclaration(parent)) &&
    /^(?:metadata|place)$/.test(parent.name.getText())
  )
}

/** A kind with two controllers, one of which is missing. */
export function dropController(source: Source): Mutation[] {
  const { body } = source.factory
  const list = ts.isArrayLiteralExpression(body) ? body : undefined
  if (!list || list.elements.length < 2) return []
  return list.elements.map((at) => ({ at, edits: [source.removeElement(at)] }))
}
