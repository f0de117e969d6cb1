import ts from 'typescript';

/** A line of a file and what was found there. */
export interface Found {
  readonly line: number;
  readonly what: string;
}

export interface Import {
  readonly from: string;
  readonly line: number;
  /** Whether nothing of it is left in the compiled file. */
  readonly typeOnly: boolean;
}

export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
}

/** What a file imports: import, export from, import(), require and import types. */
export function importsOf(file: ts.SourceFile): readonly Import[] {
  const found: Import[] = [];
  visit(file, (node) => {
    const [specifier, typeOnly] = specifierOf(node);
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    found.push({ from: specifier.text, line: lineOf(file, node), typeOnly });
  });
  return found;
}

function specifierOf(node: ts.Node): [specifier: ts.Node | undefined, typeOnly: boolean] {
  if (ts.isImportDeclaration(node)) {
    return [node.moduleSpecifier, isTypeOnlyImport(node.importClause)];
  }
  if (ts.isExportDeclaration(node)) {
    const { exportClause, isTypeOnly } = node;
    const named = exportClause !== undefined && ts.isNamedExports(exportClause);
    return [node.moduleSpecifier, isTypeOnly || (named && allTypes(exportClause.elements))];
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return [node.argument.literal, true];
  }
  if (ts.isExternalModuleReference(node)) return [node.expression, false];
  if (ts.isCallExpression(node)) {
    const isDynamic = node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
    return [isDynamic || isRequire ? node.arguments[0] : undefined, false];
  }
  return [undefined, false];
}

function isTypeOnlyImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  const { namedBindings } = clause;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  if (clause.name !== undefined || namedBindings === undefined) return false;
  return ts.isNamedImports(namedBindings) && allTypes(namedBindings.elements);
}

function allTypes(elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]): boolean {
  return elements.length > 0 && elements.every(({ isTypeOnly }) => isTypeOnly);
}

const TIME = new Set([
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'queueMicrotask',
  'performance',
]);
const TIME_MEMBERS = new Set([
  'Date.now',
  'process.nextTick',
  'process.hrtime',
  'AbortSignal.timeout',
]);
const TIME_MODULES = /^(node:)?(timers|timers\/promises|perf_hooks)$/;

/** What reads the system's time or schedules a call. */
export function timeUsesOf(file: ts.SourceFile): readonly Found[] {
  const found: Found[] = importsOf(file)
    .filter(({ from }) => TIME_MODULES.test(from))
    .map(({ from, line }) => ({ line, what: from }));
  visit(file, (node) => {
    const what = timeUse(node);
    if (what !== undefined) found.push({ line: lineOf(file, node), what });
  });
  return found;
}

function timeUse(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) return TIME.has(node.text) ? node.text : undefined;
  if (ts.isPropertyAccessExpression(node)) {
    const member = `${node.expression.getText()}.${node.name.text}`;
    return TIME_MEMBERS.has(member) ? member : undefined;
  }
  const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
  if (!isCall || node.expression.getText() !== 'Date') return undefined;
  return ts.isCallExpression(node) || !node.arguments?.length ? 'Date()' : undefined;
}

const LOGGERS = /^(log|logger|console|process|stdout|stderr)$/;
const LOG_METHODS = /^(write|log|info|warn|error|debug|verbose|fatal|emitWarning|trace)$/;

/** Sentences that are passed to a logger in place, instead of being one of the texts. */
export function sentencesToLoggersOf(file: ts.SourceFile): readonly Found[] {
  const found: Found[] = [];
  visit(file, (node) => {
    if (!ts.isCallExpression(node) || !isWrite(node.expression)) return;
    for (const text of node.arguments.flatMap(textsIn)) {
      if (/\s/.test(text) && /\p{L}/u.test(text))
        found.push({ line: lineOf(file, node), what: text });
    }
  });
  return found;
}

function isWrite(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return callee.text === 'writeLine';
  if (!ts.isPropertyAccessExpression(callee)) return false;
  const owner = callee.expression.getText().replace(/^.*[.#]/s, '');
  return LOGGERS.test(owner) && LOG_METHODS.test(callee.name.text);
}

function textsIn(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map(({ literal }) => literal.text).join('')];
  }
  // The arguments of a function, such as one of the texts, are not what is logged.
  if (ts.isCallExpression(node)) return [];
  const texts: string[] = [];
  ts.forEachChild(node, (child) => {
    texts.push(...textsIn(child));
  });
  return texts;
}

/** The constructors of a file's classes. */
export function constructorsOf(
  file: ts.SourceFile,
): readonly { readonly line: number; readonly parameters: number }[] {
  const found: { line: number; parameters: number }[] = [];
  visit(file, (node) => {
    if (!ts.isConstructorDeclaration(node)) return;
    found.push({ line: lineOf(file, node), parameters: node.parameters.length });
  });
  return found;
}

function visit(node: ts.Node, work: (node: ts.Node) => void): void {
  work(node);
  ts.forEachChild(node, (child) => visit(child, work));
}

function lineOf(file: ts.SourceFile, node: ts.Node): number {
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}
