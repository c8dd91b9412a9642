# The gateway stands before this port and lets in whom the instance's tenant lets in, so Jupyter asks for no token
# of its own, unless a password is wanted all the same.
import os

from notebook.auth import passwd

c.NotebookApp.ip = "0.0.0.0"
c.NotebookApp.port = 8888
c.NotebookApp.open_browser = False
c.NotebookApp.allow_root = True
c.NotebookApp.allow_remote_access = True
c.NotebookApp.notebook_dir = "/data"
c.NotebookApp.token = ""
c.NotebookApp.password = passwd(os.environ["JUPYTER_PASSWORD"]) if os.environ.get("JUPYTER_PASSWORD") else ""
c.NotebookApp.trust_xheaders = True
c.NotebookApp.shutdown_no_activity_timeout = 0
c.MappingKernelManager.cull_idle_timeout = int(os.environ.get("JUPYTER_KERNEL_IDLE_MINUTES", "0")) * 60
c.MappingKernelManager.cull_connected = False
