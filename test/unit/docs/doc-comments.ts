import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** The doc comment of one member of an interface. */
export interface DocComment {
  readonly text: string;
  readonly byDefault: string | undefined;
  readonly example: string | undefined;
}

/** The doc comments of the members of the interfaces in a file, by `Interface.member`. */
export function docCommentsIn(path: string): ReadonlyMap<string, DocComment> {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.ES2022,
    true,
  );
  const found = new Map<string, DocComment>();
  for (const statement of source.statements) {
    if (!ts.isInterfaceDeclaration(statement)) continue;
    for (const member of statement.members) {
      const [comment] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
      const name = member.name?.getText(source);
      if (name !== undefined && comment !== undefined) {
        found.set(`${statement.name.text}.${name}`, docCommentOf(comment));
      }
    }
  }
  return found;
}

function docCommentOf(comment: ts.JSDoc): DocComment {
  const tag = (name: string): string | undefined => {
    const found = comment.tags?.find(({ tagName }) => tagName.text === name);
    return found && ts.getTextOfJSDocComment(found.comment);
  };
  const text = ts.getTextOfJSDocComment(comment.comment) ?? '';
  return { text: text.replace(/\s+/g, ' '), byDefault: tag('default'), example: tag('example') };
}
