"""Stop an upload at its size limit, before it is all on disk."""

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload


class LimitedUploadHandler(FileUploadHandler):
    """Count bytes as they come and stop above UPLOAD_MAX_BYTES."""

    def new_file(self, *args: object, **kwargs: object) -> None:
        super().new_file(*args, **kwargs)  # type: ignore[arg-type] # passed on as they came
        self.received_bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received_bytes += len(raw_data)
        if self.received_bytes > settings.UPLOAD_MAX_BYTES:
            if self.request is not None:
                self.request.upload_too_large = True  # type: ignore[attr-defined] # read by the upload page
            raise StopUpload(connection_reset=True)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None
