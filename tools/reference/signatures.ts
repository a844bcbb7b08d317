/**
 * Declarations for readers: no bodies, no modifiers, no default values, and lines that fit.
 *
 * Types come from the sources, printed by the compiler; a destructured parameter gets a name.
 */
import ts from 'typescript'

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed })
const columnsMax = 100

type Callable = ts.SignatureDeclaration

/** The text of one declaration; empty for what callers never see. */
export function signatureOf(node: ts.Declaration, checker: ts.TypeChecker): string {
  if (ts.isFunctionDeclaration(node))
    return isImplementation(node) ? '' : callSignature(`function ${node.name?.text ?? ''}`, node, checker)
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) return headOf(node)
  if (ts.isTypeAliasDeclaration(node)) return aliasOf(node, checker)
  return ts.isVariableDeclaration(node) ? constantOf(node, checker) : ''
}

/** The text of a member of a class or an interface. */
export function memberOf(node: ts.Declaration, checker: ts.TypeChecker): string {
  if (ts.isConstructorDeclaration(node)) {
    const name = ts.isClassDeclaration(node.parent) ? (node.parent.name?.text ?? '') : ''
    return `new ${name}(${parametersOf(node, checker).join(', ')})`
  }
  const name = (node as ts.NamedDeclaration).name?.getText() ?? ''
  if (ts.isMethodDeclaration(node) || ts.isMethodSignature(node))
    return isImplementation(node) ? '' : oneLine(`${name}${node.questionToken ? '?' : ''}`, node, checker)
  if (ts.isCallSignatureDeclaration(node)) return oneLine('', node, checker)
  const typed = node as ts.Declaration & { readonly type?: ts.TypeNode; readonly questionToken?: ts.Node }
  const type = typed.type ? print(typed.type) : typeAt(node, checker)
  return `${name}${typed.questionToken ? '?' : ''}: ${type}`
}

/** The implementation of overloads: callers see only the overloads. */
export function isImplementation(node: ts.FunctionLikeDeclaration | ts.MethodSignature): boolean {
  if (!('body' in node) || node.body === undefined) return false
  const siblings: readonly ts.Node[] = ts.isClassDeclaration(node.parent)
    ? node.parent.members
    : ts.isFunctionDeclaration(node)
      ? node.getSourceFile().statements
      : []
  const name = node.name?.getText()
  return siblings.some((other) => {
    const isSameKind = ts.isMethodDeclaration(other) || ts.isFunctionDeclaration(other)
    return isSameKind && other !== node && other.body === undefined && other.name?.getText() === name
  })
}

/** `interface ApplyOptions extends CreateOptions`; the members are in their table. A bare name is omitted. */
function headOf(node: ts.ClassDeclaration | ts.InterfaceDeclaration): string {
  const word = ts.isClassDeclaration(node) ? 'class' : 'interface'
  const clauses = (node.heritageClauses ?? []).map(
    ({ token, types }) =>
      `${token === ts.SyntaxKind.ExtendsKeyword ? 'extends' : 'implements'} ${types.map(print).join(', ')}`,
  )
  const start = `${word} ${node.name?.text ?? ''}`
  const head = [`${start}${typeParameters(node)}`, ...clauses]
  if (head.join('') === start) return ''
  return head.join(' ').length <= columnsMax ? head.join(' ') : head.join('\n  ')
}

function aliasOf(node: ts.TypeAliasDeclaration, checker: ts.TypeChecker): string {
  const start = `type ${node.name.text}${typeParameters(node)} =`
  const text = ts.isTypeOperatorNode(node.type) ? typeAt(node, checker) : print(node.type)
  if (`${start} ${text}`.length <= columnsMax) return `${start} ${text}`
  if (ts.isUnionTypeNode(node.type)) return [start, ...node.type.types.map((one) => `  | ${print(one)}`)].join('\n')
  if (ts.isTypeOperatorNode(node.type)) return `${start}\n  | ${text.split(' | ').join('\n  | ')}`
  if (ts.isIntersectionTypeNode(node.type)) return `${start} ${node.type.types.map(print).join(' &\n  ')}`
  if (ts.isConditionalTypeNode(node.type)) {
    const { checkType, extendsType, trueType, falseType } = node.type
    return `${start} ${print(checkType)} extends ${print(extendsType)}\n  ? ${print(trueType)}\n  : ${print(falseType)}`
  }
  return ts.isFunctionTypeNode(node.type) ? callSignature(`${start} `, node.type, checker) : `${start}\n  ${text}`
}

/** A predicate in arrow form is printed as a function; a kind says that it is one. */
function constantOf(node: ts.VariableDeclaration, checker: ts.TypeChecker): string {
  const name = node.name.getText()
  if (node.initializer && ts.isArrowFunction(node.initializer) && !node.type)
    return callSignature(`function ${name}`, node.initializer, checker)
  if (node.type) return `const ${name}: ${print(node.type)}`
  const symbol = checker.getTypeAtLocation(node).getSymbol()?.name
  return symbol === 'Kind' ? `const ${name}: Kind` : `const ${name}`
}

function callSignature(start: string, node: Callable, checker: ts.TypeChecker): string {
  const line = oneLine(start, node, checker)
  if (line.length <= columnsMax) return line
  const types = typeParameters(node)
  const generics = types.length > 60 ? `<\n  ${(node.typeParameters ?? []).map(print).join(',\n  ')},\n>` : types
  const parameters = parametersOf(node, checker).map((one) => `  ${one},\n`)
  return `${start}${generics}(\n${parameters.join('')})${resultOf(node, checker)}`
}

function oneLine(start: string, node: Callable, checker: ts.TypeChecker): string {
  return `${start}${typeParameters(node)}(${parametersOf(node, checker).join(', ')})${resultOf(node, checker)}`
}

function resultOf(node: Callable, checker: ts.TypeChecker): string {
  const arrow = ts.isFunctionTypeNode(node) ? ' => ' : ': '
  if (node.type) return `${arrow}${print(node.type)}`
  const signature = checker.getSignatureFromDeclaration(node)
  return signature ? `${arrow}${checker.typeToString(checker.getReturnTypeOfSignature(signature))}` : ''
}

function typeParameters({
  typeParameters: list = [],
}: {
  readonly typeParameters?: Iterable<ts.Node> | undefined
}): string {
  const texts = [...list].map(print)
  return texts.length === 0 ? '' : `<${texts.join(', ')}>`
}

function parametersOf(node: Callable, checker: ts.TypeChecker): string[] {
  return node.parameters.map((parameter) => {
    const { name, dotDotDotToken, questionToken, initializer, type } = parameter
    const word = ts.isIdentifier(name) ? name.text : wordFor(type)
    const optional = questionToken || initializer ? '?' : ''
    return `${dotDotDotToken ? '...' : ''}${word}${optional}: ${type ? print(type) : typeAt(parameter, checker)}`
  })
}

/** A name for a destructured parameter: `kind` for a `Kind<T>`, otherwise `options`. */
function wordFor(type: ts.TypeNode | undefined): string {
  const name = type && ts.isTypeReferenceNode(type) ? type.typeName.getText() : 'Options'
  if (/Options$|^(?:Pick|Omit|Partial)$/.test(name)) return 'options'
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`
}

function typeAt(node: ts.Node, checker: ts.TypeChecker): string {
  const flags =
    ts.TypeFormatFlags.NoTruncation |
    ts.TypeFormatFlags.InTypeAlias |
    ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType
  return checker.typeToString(checker.getTypeAtLocation(node), undefined, flags)
}

/** On one line, as the compiler prints it. */
function print(node: ts.Node): string {
  return printer
    .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replace(/\s+/g, ' ')
    .replace(/; \}/g, ' }')
    .trim()
}
