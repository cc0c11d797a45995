/** A template with a workspace, which belongs to the session that the module creates. */
import { codeInterpreterTool, MarkdownSection, PromptTemplate, Session } from "weakincentives";
import { OpenAIContainerWorkspaceSection } from "weakincentives/openai";

const folder = process.env["WINK_TEST_FOLDER"] ?? "";

export default new PromptTemplate({
  ns: "shop",
  key: "notes",
  sections: [
    new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Write the notes.",
      hostedTools: [codeInterpreterTool()],
    }),
    new OpenAIContainerWorkspaceSection({
      session: new Session({ id: "notes" }),
      mounts: [{ hostPath: `${folder}/in`, mountPath: "notes" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
      syncDestination: `${folder}/out`,
    }),
  ],
});
